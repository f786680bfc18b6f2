"""The workloads with loops for Dr.Jit: symbolic loops, which it puts into one kernel each.

Each gets the inputs and then the tables in the order of the task, as arrays of Dr.Jit.
"""

import importlib
from collections.abc import Callable
from math import pi
from typing import Any

from .tsit5 import make_lorenz, make_van_der_pol

dr: Any = importlib.import_module("drjit")
llvm: Any = importlib.import_module("drjit.llvm")

Loop = Callable[..., Any]


def _mandelbrot(a: Any, b: Any) -> Any:
    x, y, n = llvm.Float(0), llvm.Float(0), llvm.Int(0)
    while (x * x + y * y <= 4) & (n < 1000):
        x, y = x * x - y * y + a, 2 * x * y + b
        n += 1
    return n


def _kepler(m: Any, e: Any) -> Any:
    x, n, active = llvm.Float64(m), llvm.Int(0), llvm.Bool(True)
    while active:
        sin, cos = dr.sincos(x)
        d = (x - e * sin - m) / (1 - e * cos)
        x -= d
        n += 1
        active = (abs(d) >= 1e-12) & (n < 50)
    return x


_MOST_STEPS = 100_000
_lorenz_slope, _lorenz_step = make_lorenz(lambda f: f, dr.maximum)
_van_der_pol_slope, _van_der_pol_step = make_van_der_pol(lambda f: f, dr.maximum)


def _growth(error: Any) -> Any:
    return dr.clip(0.9 * dr.power(dr.maximum(error, 1e-10), -0.2), 0.2, 5)


def _ode_lorenz(rho: Any) -> Any:
    end = 5
    x, y, z = llvm.Float64(1), llvm.Float64(1), llvm.Float64(1)
    kx, ky, kz = _lorenz_slope(rho, x, y, z)
    t, h, steps = llvm.Float64(0), llvm.Float64(0.01), llvm.Int(0)
    while (t < end) & (steps < _MOST_STEPS):
        clipped = h >= end - t
        h = dr.minimum(h, end - t)
        *new, error = _lorenz_step(rho, h, x, y, z, kx, ky, kz)
        accept = error <= 1
        t = dr.select(accept, dr.select(clipped, end, t + h), t)
        x, y, z, kx, ky, kz = dr.select(accept, new, [x, y, z, kx, ky, kz])
        h *= _growth(error)
        steps += 1
    return x


def _ode_van_der_pol(mu: Any) -> Any:
    end = 20
    y, v = llvm.Float64(2), llvm.Float64(0)
    ky, kv = _van_der_pol_slope(mu, y, v)
    t, h, steps = llvm.Float64(0), llvm.Float64(0.01), llvm.Int(0)
    while (t < end) & (steps < _MOST_STEPS):
        clipped = h >= end - t
        h = dr.minimum(h, end - t)
        *new, error = _van_der_pol_step(mu, h, y, v, ky, kv)
        accept = error <= 1
        t = dr.select(accept, dr.select(clipped, end, t + h), t)
        y, v, ky, kv = dr.select(accept, new, [y, v, ky, kv])
        h *= _growth(error)
        steps += 1
    return y


def _gather_index(values: Any, at: Any) -> Any:
    return llvm.UInt(dr.gather(llvm.Int, values, at))


def _tree_ensemble(rows: Any, feature: Any, threshold: Any, leaf: Any) -> Any:
    row = dr.arange(llvm.UInt, dr.width(rows) // 28) * 28
    total, tree = llvm.Float(0), llvm.UInt(0)
    while tree < 500:
        node = llvm.UInt(0)
        for _ in range(8):
            at = tree * 255 + node
            value = dr.gather(llvm.Float, rows, row + _gather_index(feature, at))
            right = value > dr.gather(llvm.Float, threshold, at)
            node = 2 * node + dr.select(right, llvm.UInt(2), llvm.UInt(1))
        total += dr.gather(llvm.Float, leaf, tree * 256 + node - 255)
        tree += 1
    return total


def _first_passage(size: Any) -> Any:
    rng = llvm.PCG32(size, 42)
    x, steps = llvm.Int(0), llvm.Int(0)
    while abs(x) < 32:
        x += dr.select(rng.next_uint32() >> 31 == 1, llvm.Int(1), llvm.Int(-1))
        steps += 1
    return steps


_LEVELS = 64


def _binomial_options(spot: Any, strike: Any, time: Any) -> Any:
    dt = time / _LEVELS
    u = dr.exp(0.3 * dr.sqrt(dt))
    d = 1 / u
    up = (dr.exp(0.02 * dt) - d) / (u - d)
    discount = dr.exp(-0.02 * dt)
    v = dr.alloc_local(llvm.Float, _LEVELS + 1)
    base, i = llvm.Float(spot), llvm.UInt(0)
    while i < _LEVELS:
        base *= d
        i += 1
    price = llvm.Float(base)
    i = llvm.UInt(0)
    while i <= _LEVELS:
        v[i] = dr.maximum(strike - price, 0)
        price *= u * u
        i += 1
    level = llvm.UInt(_LEVELS)
    while level > 0:
        base *= u
        price = llvm.Float(base)
        below = v[0]
        i = llvm.UInt(0)
        while i < level:
            above = v[i + 1]
            hold = discount * (up * above + (1 - up) * below)
            v[i] = dr.maximum(hold, strike - price)
            price *= u * u
            below = llvm.Float(above)
            i += 1
        level -= 1
    return v[0]


def _normal(x: Any) -> Any:
    return 0.5 * (1 + dr.erf(x * 0.5**0.5))


_RATE = 0.02


def _implied_vol(price: Any, spot: Any, strike: Any, time: Any) -> Any:
    root = dr.sqrt(time)
    money = dr.log(spot / strike) + _RATE * time
    paid = strike * dr.exp(-_RATE * time)
    scale = spot * root / (2 * pi) ** 0.5
    sigma, n, active = llvm.Float64(0.3), llvm.Int(0), llvm.Bool(True)
    while active & (n < 50):
        spread = sigma * root
        d1 = (money + 0.5 * spread * spread) / spread
        diff = spot * _normal(d1) - paid * _normal(d1 - spread) - price
        vega = scale * dr.exp(-0.5 * d1 * d1)
        active = abs(diff) >= 1e-10
        better = dr.clip(sigma - diff / dr.maximum(vega, 1e-8), 0.001, 5)
        sigma = dr.select(active, better, sigma)
        n += 1
    return sigma


def _collatz(n: Any) -> Any:
    x, steps = llvm.Int64(n), llvm.Int(0)
    while x != 1:
        x = dr.select(x & 1 == 0, x >> 1, 3 * x + 1)
        steps += 1
    return steps


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
    origin, direction = llvm.Array3f(ox, oy, oz), llvm.Array3f(dx, dy, dz)
    inverse = 1 / direction
    stack = dr.alloc_local(llvm.UInt, 32)
    stack[0] = llvm.UInt(0)
    # As wide as the rays: an index of width 1 is taken to be the same in all lanes.
    depth, best = dr.full(llvm.UInt, 1, dr.width(ox)), llvm.Float(1e30)
    while depth > 0:
        depth -= 1
        node = stack[depth]
        low = (dr.gather(llvm.Array3f, node_box, node * 2) - origin) * inverse
        high = (dr.gather(llvm.Array3f, node_box, node * 2 + 1) - origin) * inverse
        near = dr.maximum(dr.max(dr.minimum(low, high)), 0)
        far = dr.minimum(dr.min(dr.maximum(low, high)), best)
        if near <= far:
            left = _gather_index(node_left, node)
            count = _gather_index(node_count, node)
            if count == 0:
                stack[depth] = left + 1
                stack[depth + 1] = left
                depth += 2
            k = llvm.UInt(left)
            while k < left + count:
                corner = dr.gather(llvm.Array3f, triangle, k * 3)
                edge1 = dr.gather(llvm.Array3f, triangle, k * 3 + 1) - corner
                edge2 = dr.gather(llvm.Array3f, triangle, k * 3 + 2) - corner
                p = dr.cross(direction, edge2)
                scale = 1 / dr.dot(edge1, p)
                s = origin - corner
                q = dr.cross(s, edge1)
                a, b = dr.dot(s, p) * scale, dr.dot(direction, q) * scale
                t = dr.dot(edge2, q) * scale
                nearer = (a >= 0) & (b >= 0) & (a + b <= 1) & (t > 1e-4) & (t < best)
                best = dr.select(nearer, t, best)
                k += 1
    return best


def _accumulate(x: Any) -> Any:
    # Unrolled: a while loop takes longer.
    s = llvm.Int(0)
    for i in range(100):
        s += x * i
    return s


LOOPS = {
    name: dr.syntax(function)
    for name, function in {
        "mandelbrot_image": _mandelbrot,
        "mandelbrot_shuffled": _mandelbrot,
        "mandelbrot_escaping": _mandelbrot,
        "kepler": _kepler,
        "ode_lorenz": _ode_lorenz,
        "ode_van_der_pol": _ode_van_der_pol,
        "tree_ensemble": _tree_ensemble,
        "first_passage": _first_passage,
        "binomial_options": _binomial_options,
        "implied_vol": _implied_vol,
        "collatz": _collatz,
        "ray_bvh": _ray_bvh,
        "accumulate": _accumulate,
    }.items()
}
