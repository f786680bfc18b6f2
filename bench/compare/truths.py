"""Results of the programs in NumPy, of every `step`-th element: slow, and written another way."""

import math
from collections.abc import Callable

import numpy as np

from . import tsit5
from .arrays import Array, Data
from .scene import FEATURES, INNER, LEAVES, LEVELS, TREES

MANDELBROT_LIMIT = 1000
FIRST_PASSAGE_SEED = 42
FIRST_PASSAGE_DISTANCE = 32
INTEREST = 0.02
NO_HIT = 1e30


def mandelbrot(data: Data, step: int) -> Array:
    a, b = (v[::step] for v in data.inputs)
    return mandelbrot_counts(a, b)


def mandelbrot_counts(a: Array, b: Array) -> Array:
    """Return escape times; every operation is rounded to f32 as the program has it."""
    counts = np.zeros(a.size, np.int32)
    where = np.arange(a.size)
    x, y = np.zeros_like(a), np.zeros_like(b)
    for _ in range(MANDELBROT_LIMIT):
        stays = x * x + y * y <= 4
        where, a, b, x, y = (v[stays] for v in (where, a, b, x, y))
        counts[where] += 1
        x, y = x * x - y * y + a, 2 * x * y + b
    return counts


def kepler(data: Data, step: int) -> Array:
    m, e = (v[::step].astype(np.longdouble) for v in data.inputs)
    low, high = m - 1, m + 1  # x - e sin x - m grows, and |e| < 1
    for _ in range(64):
        x = (low + high) / 2
        above = x - e * np.sin(x) > m
        low, high = np.where(above, low, x), np.where(above, x, high)
    return (low + high) / 2


Slope = Callable[[Array, Array], Array]  # of a state, a row each, and the parameter


def lorenz_slope(state: Array, rho: Array) -> Array:
    x, y, z = state
    return np.stack([10 * (y - x), x * (rho - z) - y, x * y - 8 / 3 * z])


def van_der_pol_slope(state: Array, mu: Array) -> Array:
    y, v = state
    return np.stack([v, mu * (1 - y * y) * v - y])


def ode(slope: Slope, start: tuple[float, ...], end: float) -> Callable[[Data, int], Array]:
    """Return a truth that follows all elements at once, each with steps of its own."""

    def truth(data: Data, step: int) -> Array:
        parameter = data.inputs[0][::step]
        result = np.zeros(parameter.size)
        where = np.arange(parameter.size)
        state = np.repeat(np.array(start)[:, None], parameter.size, axis=1)
        t, h = np.zeros(parameter.size), np.full(parameter.size, 0.01)
        while where.size:
            first = slope(state, parameter)
            clipped = h >= end - t
            h = np.where(clipped, end - t, h)
            new, error = _step(slope, state, first, h, parameter)
            accepted = error <= 1
            t = np.where(accepted, np.where(clipped, end, t + h), t)
            state = np.where(accepted, new, state)
            h = h * np.clip(0.9 * np.maximum(error, 1e-10) ** -0.2, 0.2, 5)
            result[where] = state[0]
            left = t < end
            where, t, h, parameter = where[left], t[left], h[left], parameter[left]
            state = state[:, left]
        return result

    return truth


def _step(
    slope: Slope, state: Array, first: Array, h: Array, parameter: Array
) -> tuple[Array, Array]:
    slopes = [first]
    for row in tsit5.STAGES:
        new = state + h * sum(a * k for a, k in zip(row, slopes, strict=True))
        slopes.append(slope(new, parameter))
    error = np.abs(h * sum(b * k for b, k in zip(tsit5.ERROR, slopes, strict=True)))
    allowed = 1e-6 + 1e-6 * np.maximum(np.abs(state), np.abs(new))
    return new, (error / allowed).max(axis=0)


def tree_ensemble(data: Data, step: int) -> Array:
    rows = data.tables["rows"].reshape(-1, FEATURES)[::step]
    feature = data.tables["feature"].reshape(TREES, INNER)
    threshold = data.tables["threshold"].reshape(TREES, INNER)
    leaf = data.tables["leaf"].reshape(TREES, LEAVES)
    every = np.arange(len(rows))
    result = np.zeros(len(rows))
    for tree in range(TREES):
        node = np.zeros(len(rows), np.int64)
        for _ in range(LEVELS):
            is_right = rows[every, feature[tree, node]] > threshold[tree, node]
            node = 2 * node + 1 + is_right
        result += leaf[tree, node - INNER]
    return result


def philox(seed: int, draw: Array, site: int, element: Array) -> Array:
    """Return the first word of Philox4x32-10 for each pair of a draw and an element."""
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    draw, element = np.broadcast_arrays(draw.astype(np.uint64), element.astype(np.uint64))
    c0, c1, c2, c3 = draw, np.full_like(draw, site), element & low, element >> half
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        p0, p1 = c0 * np.uint64(0xD2511F53), c2 * np.uint64(0xCD9E8D57)
        c0, c1 = (p1 >> half) ^ c1 ^ np.uint64(k0), p1 & low
        c2, c3 = (p0 >> half) ^ c3 ^ np.uint64(k1), p0 & low
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c0


def first_passage(data: Data, step: int) -> Array:
    """Walk a block of draws at a time."""
    block = 512
    result = np.zeros(len(range(0, data.size, step)), np.int32)
    where = np.arange(0, data.size, step)
    x = np.zeros(where.size, np.int64)
    for start in range(0, 1_000_000, block):
        draws = np.arange(start, start + block)
        bits = philox(FIRST_PASSAGE_SEED, draws[None, :], 0, where[:, None]) >> np.uint64(31)
        path = x[:, None] + np.cumsum(2 * bits.astype(np.int64) - 1, axis=1)
        there = np.abs(path) >= FIRST_PASSAGE_DISTANCE
        arrived = there.any(axis=1)
        result[where[arrived] // step] = start + 1 + there[arrived].argmax(axis=1)
        where, x = where[~arrived], path[~arrived, -1]
        if not where.size:
            break
    return result


def binomial_options(data: Data, step: int) -> Array:
    """Value American puts on a tree of 64 steps, in f64 and with powers instead of products."""
    spot, strike, time = (v[::step].astype(np.float64)[:, None] for v in data.inputs)
    steps = 64
    dt = time / steps
    up = np.exp(0.3 * np.sqrt(dt))
    p = (np.exp(INTEREST * dt) - 1 / up) / (up - 1 / up)
    discount = np.exp(-INTEREST * dt)
    value = np.maximum(strike - spot * up ** (2.0 * np.arange(steps + 1) - steps), 0)
    for level in range(steps - 1, -1, -1):
        now = strike - spot * up ** (2.0 * np.arange(level + 1) - level)
        value = np.maximum(discount * (p * value[:, 1:] + (1 - p) * value[:, :-1]), now)
    result: Array = value[:, 0]
    return result


def call_price(volatility: Array, spot: Array, strike: Array, time: Array) -> tuple[Array, Array]:
    """Return the price of a European call by Black and Scholes, and its slope."""
    spread = volatility * np.sqrt(time)
    d1 = (np.log(spot / strike) + (INTEREST + volatility**2 / 2) * time) / spread
    discounted = strike * np.exp(-INTEREST * time)
    price = spot * _normal(d1) - discounted * _normal(d1 - spread)
    return price, spot * np.sqrt(time) * np.exp(-(d1**2) / 2) / math.sqrt(2 * math.pi)


def _normal(x: Array) -> Array:
    return np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in x])


def implied_vol(data: Data, step: int) -> Array:
    """Bisect; NaN where the price says too little about the volatility."""
    price, spot, strike, time = (v[::step] for v in data.inputs)
    low, high = np.full_like(price, 0.001), np.full_like(price, 5.0)
    for _ in range(48):
        sigma = (low + high) / 2
        above = call_price(sigma, spot, strike, time)[0] > price
        low, high = np.where(above, low, sigma), np.where(above, sigma, high)
    sigma = (low + high) / 2
    return np.where(call_price(sigma, spot, strike, time)[1] > 1, sigma, np.nan)


def collatz(data: Data, step: int) -> Array:
    n = data.inputs[0][::step]
    result = np.zeros(n.size, np.int32)
    where = np.arange(n.size)
    while where.size:
        left = n != 1
        n, where = n[left], where[left]
        result[where] += 1
        n = np.where(n % 2 == 0, n // 2, 3 * n + 1)
    return result


def ray_bvh(data: Data, step: int) -> Array:
    """Try all triangles, without boxes, in f64."""
    rays = np.stack([v[::step].astype(np.float64) for v in data.inputs])
    triangles = data.tables["triangle"].astype(np.float64).reshape(-1, 3, 3)
    nearest = np.full(rays.shape[1], NO_HIT)
    origin, direction = rays[:3].T, rays[3:].T
    for corner, other, third in triangles:
        edge1, edge2 = other - corner, third - corner
        p = np.cross(direction, edge2)
        with np.errstate(divide="ignore", invalid="ignore"):
            inverse = 1 / (p @ edge1)
            offset = origin - corner
            u = (offset * p).sum(axis=1) * inverse
            q = np.cross(offset, edge1)
            v = (direction * q).sum(axis=1) * inverse
            t = q @ edge2 * inverse
            hit = (u >= 0) & (v >= 0) & (u + v <= 1) & (t > 1e-4)
        nearest = np.where(hit & (t < nearest), t, nearest)
    return nearest


def accumulate(data: Data, step: int) -> Array:
    return data.inputs[0][::step] * np.int32(sum(range(100)))
