"""The workloads with loops as functions of one element, in ordinary Python.

And formulas that have many constants: those that a function captures may change, literals not.
"""

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Array
from .tsit5 import make_lorenz, make_van_der_pol

lw: Any = importlib.import_module("lanewise")
Function = Callable[..., Any]


def _black_scholes(spot: Any, strike: Any, time: Any) -> Any:
    spread = 0.3 * np.sqrt(time)
    d1 = (np.log(spot / strike) + (0.02 + 0.3 * 0.3 / 2) * time) / spread
    d2 = d1 - spread
    n1 = 0.5 * (1 + math.erf(d1 * 0.5**0.5))
    n2 = 0.5 * (1 + math.erf(d2 * 0.5**0.5))
    return spot * n1 - strike * np.exp(-0.02 * time) * n2


def _poly(x: Any) -> Any:
    p = 1 / 17
    for k in (16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1):
        p = p * x + 1 / k
    return p


def _sine_chain(x: Any) -> Any:
    for _ in (None,) * 100:  # as many sines, not a loop: so it is in C++
        x = np.sin(x)
    return x


def _mandelbrot(a: Any, b: Any) -> Any:
    x = y = np.float32(0)
    n = np.int32(0)
    while x * x + y * y <= 4 and n < 1000:
        x, y = x * x - y * y + a, 2 * x * y + b
        n += 1
    return n


def _kepler(m: Any, e: Any) -> Any:
    x = m
    for _ in range(50):
        d = (x - e * np.sin(x) - m) / (1 - e * np.cos(x))
        x -= d
        if abs(d) < 1e-12:
            break
    return x


_MOST_STEPS = 100_000
_lorenz_slope, _lorenz_step = make_lorenz(lambda function: function, max)
_van_der_pol_slope, _van_der_pol_step = make_van_der_pol(lambda function: function, max)


def _growth(error: Any) -> Any:
    return min(5.0, max(0.2, 0.9 * max(error, 1e-10) ** -0.2))


def _ode_lorenz(rho: Any) -> Any:
    end = 5.0
    x = y = z = 1.0
    kx, ky, kz = _lorenz_slope(rho, x, y, z)
    t = 0.0
    h = 0.01
    steps = np.int32(0)
    while t < end and steps < _MOST_STEPS:
        clipped = h >= end - t
        h = min(h, end - t)
        new_x, new_y, new_z, new_kx, new_ky, new_kz, error = _lorenz_step(
            rho, h, x, y, z, kx, ky, kz
        )
        if error <= 1:
            t = end if clipped else t + h
            x, y, z, kx, ky, kz = new_x, new_y, new_z, new_kx, new_ky, new_kz
        h *= _growth(error)
        steps += 1
    return x


def _ode_van_der_pol(mu: Any) -> Any:
    end = 20.0
    y = 2.0
    v = 0.0
    ky, kv = _van_der_pol_slope(mu, y, v)
    t = 0.0
    h = 0.01
    steps = np.int32(0)
    while t < end and steps < _MOST_STEPS:
        clipped = h >= end - t
        h = min(h, end - t)
        new_y, new_v, new_ky, new_kv, error = _van_der_pol_step(mu, h, y, v, ky, kv)
        if error <= 1:
            t = end if clipped else t + h
            y, v, ky, kv = new_y, new_v, new_ky, new_kv
        h *= _growth(error)
        steps += 1
    return y


_LEVELS = 64


def _binomial_options(spot: Any, strike: Any, time: Any) -> Any:
    dt = time / 64
    up = np.exp(0.3 * np.sqrt(dt))
    down = 1 / up
    p = (np.exp(0.02 * dt) - down) / (up - down)
    discount = np.exp(-0.02 * dt)
    up2 = up * up
    lowest = spot
    for _ in range(64):
        lowest *= down
    value = np.zeros(65, np.float32)
    price = lowest
    for i in range(65):
        value[i] = max(strike - price, 0)
        price *= up2
    for step in range(63, -1, -1):
        lowest *= up
        price = lowest
        for i in range(step + 1):
            value[i] = max(discount * (p * value[i + 1] + (1 - p) * value[i]), strike - price)
            price *= up2
    return value[0]


def _normal(x: Any) -> Any:
    return 0.5 * math.erfc(-x * 0.7071067811865476)


def _implied_vol(price: Any, spot: Any, strike: Any, time: Any) -> Any:
    moneyness = np.log(spot / strike)
    root = np.sqrt(time)
    discounted = strike * np.exp(-0.02 * time)
    sigma = 0.3
    for _ in range(50):
        d1 = (moneyness + (0.02 + sigma * sigma / 2) * time) / (sigma * root)
        d2 = d1 - sigma * root
        difference = spot * _normal(d1) - discounted * _normal(d2) - price
        if abs(difference) < 1e-10:
            break
        vega = spot * root * np.exp(-d1 * d1 / 2) * 0.3989422804014327
        sigma = min(max(sigma - difference / max(vega, 1e-8), 0.001), 5.0)
    return sigma


def _collatz(n: Any) -> Any:
    steps = np.int32(0)
    while n != 1:
        odd, even = 3 * n + 1, n >> 1  # before the test, as the C++ program has them
        n = even if n & 1 == 0 else odd
        steps += 1
    return steps


def _accumulate(x: Any) -> Any:
    total = np.int32(0)
    for i in range(100):
        total += x * np.int32(i)
    return total


def _make_ray_bvh(
    node_box: Array, node_left: Array, node_count: Array, triangle: Array
) -> Function:
    def hits_box(at: Any, ray: Any, inverse: Any, best: Any) -> Any:
        low = [(node_box[at + k] - ray[k]) * inverse[k] for k in range(3)]
        high = [(node_box[at + 3 + k] - ray[k]) * inverse[k] for k in range(3)]
        near = max(max(min(low[0], high[0]), min(low[1], high[1])), max(min(low[2], high[2]), 0))
        far = min(min(max(low[0], high[0]), max(low[1], high[1])), min(max(low[2], high[2]), best))
        return near <= far

    def dot(a: Any, b: Any) -> Any:
        return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]

    def cross(a: Any, b: Any) -> Any:
        return (
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        )

    def nearer(at: Any, origin: Any, direction: Any, best: Any) -> Any:
        corner = [triangle[at + k] for k in range(3)]
        edge1 = [triangle[at + 3 + k] - corner[k] for k in range(3)]
        edge2 = [triangle[at + 6 + k] - corner[k] for k in range(3)]
        p = cross(direction, edge2)
        scale = 1 / dot(edge1, p)
        offset = [origin[k] - corner[k] for k in range(3)]
        u = dot(offset, p) * scale
        q = cross(offset, edge1)
        v = dot(direction, q) * scale
        t = dot(edge2, q) * scale
        hits = (u >= 0) & (u <= 1) & (v >= 0) & (u + v <= 1) & (t > 1e-4) & (t < best)
        return t if hits else best

    def ray_bvh(ox: Any, oy: Any, oz: Any, dx: Any, dy: Any, dz: Any) -> Any:
        origin, direction = (ox, oy, oz), (dx, dy, dz)
        inverse = (1 / dx, 1 / dy, 1 / dz)
        stack = np.zeros(32, np.int32)
        depth = np.int32(1)
        best = np.float32(1e30)
        while depth > 0:
            depth -= 1
            node = stack[depth]
            if not hits_box(node * 6, origin, inverse, best):
                continue
            first, count = node_left[node], node_count[node]
            i = first  # of 32 bits, as a counter of range would not be
            while i < first + count:
                best = nearer(i * 9, origin, direction, best)
                i += 1
            if count == 0:
                stack[depth] = first + 1
                stack[depth + 1] = first
                depth += 2
        return best

    return ray_bvh


def _make_tree_ensemble(rows: Array, feature: Array, threshold: Array, leaf: Array) -> Function:
    def tree_ensemble() -> Any:
        row = lw.element(np.int32) * 28
        total = np.float32(0)
        for tree in range(500):
            node = np.int32(0)
            for _ in range(8):
                at = tree * 255 + node
                node = 2 * node + 1 + (rows[row + feature[at]] > threshold[at])
            total += leaf[tree * 256 + node - 255]
        return total

    return tree_ensemble


def _first_passage() -> Any:
    x = np.int32(0)
    steps = np.int32(0)
    while abs(x) < 32:
        x += 1 if lw.random.bits() >> np.uint32(31) else -1
        steps += 1
    return steps


# With tables, which the function captures.
MAKERS: dict[str, Function] = {"ray_bvh": _make_ray_bvh, "tree_ensemble": _make_tree_ensemble}

LOOPS: dict[str, Function] = {
    "black_scholes": _black_scholes,
    "poly": _poly,
    "sine_chain": _sine_chain,
    "mandelbrot_image": _mandelbrot,
    "mandelbrot_shuffled": _mandelbrot,
    "mandelbrot_escaping": _mandelbrot,
    "kepler": _kepler,
    "ode_lorenz": _ode_lorenz,
    "ode_van_der_pol": _ode_van_der_pol,
    "first_passage": _first_passage,
    "binomial_options": _binomial_options,
    "implied_vol": _implied_vol,
    "collatz": _collatz,
    "accumulate": _accumulate,
}
