"""The workloads with loops for JAX: each a function of one element, and how many go at a time.

A while loop under `vmap` goes on until the last element is done, and over all of them in memory.
So `lax.map` takes batches, which end sooner and stay in the cache; the sizes are the fastest ones.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np

from . import Task
from .tsit5 import make_lorenz, make_van_der_pol

jax: Any = importlib.import_module("jax")
jnp: Any = importlib.import_module("jax.numpy")
while_loop, fori_loop = jax.lax.while_loop, jax.lax.fori_loop


def _mandelbrot(a: Any, b: Any) -> Any:
    def goes_on(state: Any) -> Any:
        x, y, n = state
        return (x * x + y * y <= 4) & (n < 1000)

    def step(state: Any) -> Any:
        x, y, n = state
        return x * x - y * y + a, 2 * x * y + b, n + 1

    zero = jnp.float32(0)
    return while_loop(goes_on, step, (zero, zero, jnp.int32(0)))[2]


def _kepler(m: Any, e: Any) -> Any:
    def goes_on(state: Any) -> Any:
        _, d, n = state
        return (jnp.abs(d) >= 1e-12) & (n < 50)

    def step(state: Any) -> Any:
        x, _, n = state
        d = (x - e * jnp.sin(x) - m) / (1 - e * jnp.cos(x))
        return x - d, d, n + 1

    return while_loop(goes_on, step, (m, jnp.float64(1), jnp.int32(0)))[0]


_MOST_STEPS = 100_000


def _integrate(slope: Any, step: Any, parameter: Any, start: tuple[float, ...], end: float) -> Any:
    def goes_on(state: Any) -> Any:
        t, _, steps, *_ = state
        return (t < end) & (steps < _MOST_STEPS)

    def advance(state: Any) -> Any:
        t, h, steps, *old = state
        clipped = h >= end - t
        h = jnp.minimum(h, end - t)
        *new, error = step(parameter, h, *old)
        accept = error <= 1
        t = jnp.where(accept, jnp.where(clipped, end, t + h), t)
        growth = jnp.clip(0.9 * jnp.maximum(error, 1e-10) ** -0.2, 0.2, 5)
        kept = (jnp.where(accept, a, b) for a, b in zip(new, old, strict=True))
        return t, h * growth, steps + 1, *kept

    y = [jnp.float64(v) for v in start]
    state = (jnp.float64(0), jnp.float64(0.01), jnp.int32(0), *y, *slope(parameter, *y))
    return while_loop(goes_on, advance, state)[3]


def _ode_lorenz(rho: Any) -> Any:
    slope, step = make_lorenz(lambda f: f, jnp.maximum)
    return _integrate(slope, step, rho, (1, 1, 1), 5)


def _ode_van_der_pol(mu: Any) -> Any:
    slope, step = make_van_der_pol(lambda f: f, jnp.maximum)
    return _integrate(slope, step, mu, (2, 0), 20)


def _tree_ensemble(row: Any, feature: Any, threshold: Any, leaf: Any) -> Any:
    def add_tree(tree: Any, total: Any) -> Any:
        node = jnp.int32(0)
        for _ in range(8):
            right = row[feature[tree, node]] > threshold[tree, node]
            node = 2 * node + 1 + right
        return total + leaf[tree, node - 255]

    return fori_loop(0, 500, add_tree, jnp.float32(0))


def _philox(draw: Any, element: Any, seed: int) -> Any:
    """Return the first word of philox4x32-10 at site 0.

    A step of the walk costs three hashes with `jax.random.fold_in` and `bits`, one with this. The
    generator "rbg" is fast, but gives walks of a wrong mean under `vmap`.
    """

    def multiply(a: int, b: Any) -> tuple[Any, Any]:
        product = jnp.uint64(a) * b.astype(jnp.uint64)
        return (product >> 32).astype(jnp.uint32), product.astype(jnp.uint32)

    zero = jnp.uint32(0)
    c0, c1, c2, c3 = draw.astype(jnp.uint32), zero, element.astype(jnp.uint32), zero
    for i in range(10):
        high0, low0 = multiply(0xD2511F53, c0)
        high1, low1 = multiply(0xCD9E8D57, c2)
        k0, k1 = (seed + i * 0x9E3779B9) & 0xFFFFFFFF, i * 0xBB67AE85 & 0xFFFFFFFF
        c0, c1, c2, c3 = high1 ^ c1 ^ jnp.uint32(k0), low1, high0 ^ c3 ^ jnp.uint32(k1), low0
    return c0


def _first_passage(element: Any) -> Any:
    def step(state: Any) -> Any:
        x, steps = state
        up = _philox(steps, element, 42) >> 31 == 1
        return x + jnp.where(up, 1, -1), steps + 1

    zero = jnp.int32(0)
    return while_loop(lambda state: jnp.abs(state[0]) < 32, step, (zero, zero))[1]


_LEVELS = 64


def _binomial_options(spot: Any, strike: Any, time: Any) -> Any:
    dt = time / _LEVELS
    u = jnp.exp(0.3 * jnp.sqrt(dt))
    d = 1 / u
    up = (jnp.exp(0.02 * dt) - d) / (u - d)
    discount = jnp.exp(-0.02 * dt)
    price = spot * u ** (2 * jnp.arange(_LEVELS + 1, dtype=jnp.float32) - _LEVELS)
    v = jnp.maximum(strike - price, 0)

    # The end of the arrays, which no result depends on, is computed at all levels.
    def step_back(_: Any, state: Any) -> Any:
        price, v = state
        price = price * u
        hold = discount * (up * jnp.roll(v, -1) + (1 - up) * v)
        return price, jnp.maximum(hold, strike - price)

    return fori_loop(0, _LEVELS, step_back, (price, v))[1][0]


def _normal(x: Any) -> Any:
    return 0.5 * jax.scipy.special.erfc(x * -(0.5**0.5))


_RATE = 0.02


def _implied_vol(price: Any, spot: Any, strike: Any, time: Any) -> Any:
    root = jnp.sqrt(time)
    money = jnp.log(spot / strike) + _RATE * time
    paid = strike * jnp.exp(-_RATE * time)
    scale = spot * root / (2 * pi) ** 0.5

    def goes_on(state: Any) -> Any:
        _, active, n = state
        return active & (n < 50)

    def improve(state: Any) -> Any:
        sigma, _, n = state
        spread = sigma * root
        d1 = (money + 0.5 * spread * spread) / spread
        diff = spot * _normal(d1) - paid * _normal(d1 - spread) - price
        vega = scale * jnp.exp(-0.5 * d1 * d1)
        active = jnp.abs(diff) >= 1e-10
        better = jnp.clip(sigma - diff / jnp.maximum(vega, 1e-8), 0.001, 5)
        return jnp.where(active, better, sigma), active, n + 1

    return while_loop(goes_on, improve, (jnp.float64(0.3), True, jnp.int32(0)))[0]


def _collatz(n: Any) -> Any:
    def step(state: Any) -> Any:
        x, steps = state
        return jnp.where(x & 1 == 1, 3 * x + 1, x >> 1), steps + 1

    return while_loop(lambda state: state[0] != 1, step, (n, jnp.int32(0)))[1]


def _accumulate(x: Any) -> Any:
    return fori_loop(0, 100, lambda i, s: s + x * jnp.int32(i), jnp.int32(0), unroll=True)


_FAR = 1e30


def _ray_bvh(
    ox: Any,
    oy: Any,
    oz: Any,
    dx: Any,
    dy: Any,
    dz: Any,
    node_box: Any,
    node_left: Any,
    node_count: Any,
    triangle: Any,
) -> Any:
    origin, direction = jnp.stack([ox, oy, oz]), jnp.stack([dx, dy, dz])
    inverse = 1 / direction

    def distance(corners: Any) -> Any:
        edge1, edge2 = corners[1] - corners[0], corners[2] - corners[0]
        p = jnp.cross(direction, edge2)
        scale = 1 / jnp.dot(edge1, p)
        s = origin - corners[0]
        q = jnp.cross(s, edge1)
        a, b = jnp.dot(s, p) * scale, jnp.dot(direction, q) * scale
        t = jnp.dot(edge2, q) * scale
        return jnp.where((a >= 0) & (b >= 0) & (a + b <= 1) & (t > 1e-4), t, _FAR)

    def visit(state: Any) -> Any:
        stack, depth, best = state
        depth = depth - 1
        node = stack[depth]
        low, high = (node_box[node] - origin) * inverse
        near = jnp.maximum(jnp.minimum(low, high).max(), 0)
        hit = near <= jnp.minimum(jnp.maximum(low, high).min(), best)
        left, count = node_left[node], node_count[node]
        # A leaf has at most four triangles; the rest of four do not count.
        k = jnp.arange(4, dtype=jnp.int32)
        found = jnp.where(hit & (k < count), jax.vmap(distance)(triangle[left + k]), _FAR)
        # Selected, since a scatter is slow. Above the top of the stack anything may lie.
        place = jnp.arange(32, dtype=jnp.int32)
        stack = jnp.where(place == depth, left + 1, jnp.where(place == depth + 1, left, stack))
        depth = jnp.where(hit & (count == 0), depth + 2, depth)
        return stack, depth, jnp.minimum(best, found.min())

    state = (jnp.zeros(32, jnp.int32), jnp.int32(1), jnp.float32(_FAR))
    return while_loop(lambda state: state[1] > 0, visit, state)[2]


@dataclass(frozen=True)
class Loop:
    """A function of an element's values and of those that all share."""

    function: Callable[..., Any]
    batch: int  # elements at a time; 0: all
    # Arrays of the elements' values, and those that all share.
    arrange: Callable[[Task], tuple[list[Any], list[Any]]] = lambda task: (task.inputs, [])


def _arrange_trees(task: Task) -> tuple[list[Any], list[Any]]:
    rows, *trees = task.tables.values()
    return [rows.reshape(-1, 28)], [x.reshape(500, -1) for x in trees]


def _arrange_scene(task: Task) -> tuple[list[Any], list[Any]]:
    box, left, count, triangle = task.tables.values()
    return task.inputs, [box.reshape(-1, 2, 3), left, count, triangle.reshape(-1, 3, 3)]


LOOPS = {
    "mandelbrot_image": Loop(_mandelbrot, 256),
    "mandelbrot_shuffled": Loop(_mandelbrot, 1024),
    "mandelbrot_escaping": Loop(_mandelbrot, 256),
    "kepler": Loop(_kepler, 256),
    "ode_lorenz": Loop(_ode_lorenz, 1024),
    "ode_van_der_pol": Loop(_ode_van_der_pol, 1024),
    "tree_ensemble": Loop(_tree_ensemble, 0, _arrange_trees),
    "first_passage": Loop(
        _first_passage, 256, lambda task: ([np.arange(task.size, dtype=np.int32)], [])
    ),
    "binomial_options": Loop(_binomial_options, 1024),
    "implied_vol": Loop(_implied_vol, 256),
    "collatz": Loop(_collatz, 1024),
    "ray_bvh": Loop(_ray_bvh, 64, _arrange_scene),
    "accumulate": Loop(_accumulate, 0),
}


def make_batched(loop: Loop) -> Any:
    """Return the compiled function of the elements' arrays and the shared ones."""

    def run(values: Any, shared: Any) -> Any:
        def element(one: Any) -> Any:
            return loop.function(*one, *shared)

        if loop.batch == 0:
            return jax.vmap(element)(values)
        return jax.lax.map(element, values, batch_size=loop.batch)

    return jax.jit(run)
