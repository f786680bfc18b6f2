"""The workloads with loops for JAX: each a function of one element, which `vmap` makes of all."""

import importlib
from collections.abc import Callable
from math import pi
from typing import Any

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
    return fori_loop(0, 100, lambda i, s: s + x * i.astype(jnp.int32), jnp.int32(0))
