"""The workloads with loops for Numba: each a loop over the elements, to be compiled.

Arguments are the output, the inputs and the tables in the order of the task. Constants of f32 are
made as such: Numba would go to f64 with others.
"""

import importlib
import math
from typing import Any

import numpy as np

from .tsit5 import Compile, make_lorenz, make_van_der_pol

numba: Any = importlib.import_module("numba")
prange = numba.prange

# Sums may be contracted and rearranged, by which the sum over trees is vectorised. More of fastmath
# makes none of them faster.
OPTIONS = {"error_model": "numpy", "fastmath": {"contract", "reassoc", "nsz"}}
_function: Compile = numba.njit(**OPTIONS)

_f32 = np.float32
_u32 = np.uint32
_u64 = np.uint64


def _mandelbrot(out: Any, a: Any, b: Any) -> None:
    for i in prange(out.size):
        x = y = _f32(0)
        n = 0
        while x * x + y * y <= _f32(4) and n < 1000:
            x, y = x * x - y * y + a[i], _f32(2) * x * y + b[i]
            n += 1
        out[i] = n


def _kepler(out: Any, m: Any, e: Any) -> None:
    for i in prange(out.size):
        x = m[i]
        for _ in range(50):
            d = (x - e[i] * math.sin(x) - m[i]) / (1 - e[i] * math.cos(x))
            x -= d
            if abs(d) < 1e-12:
                break
        out[i] = x


_MOST_STEPS = 100_000
_lorenz_slope, _lorenz_step = make_lorenz(_function, max)
_van_der_pol_slope, _van_der_pol_step = make_van_der_pol(_function, max)


@_function
def _growth(error: Any) -> Any:
    return min(5.0, max(0.2, 0.9 * max(error, 1e-10) ** -0.2))


def _ode_lorenz(out: Any, parameter: Any) -> None:
    end = 5.0
    for i in prange(out.size):
        rho = parameter[i]
        x = y = z = 1.0
        kx, ky, kz = _lorenz_slope(rho, x, y, z)
        t = 0.0
        h = 0.01
        steps = 0
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
        out[i] = x


def _ode_van_der_pol(out: Any, parameter: Any) -> None:
    end = 20.0
    for i in prange(out.size):
        mu = parameter[i]
        y = 2.0
        v = 0.0
        ky, kv = _van_der_pol_slope(mu, y, v)
        t = 0.0
        h = 0.01
        steps = 0
        while t < end and steps < _MOST_STEPS:
            clipped = h >= end - t
            h = min(h, end - t)
            new_y, new_v, new_ky, new_kv, error = _van_der_pol_step(mu, h, y, v, ky, kv)
            if error <= 1:
                t = end if clipped else t + h
                y, v, ky, kv = new_y, new_v, new_ky, new_kv
            h *= _growth(error)
            steps += 1
        out[i] = y


def _tree_ensemble(out: Any, rows: Any, feature: Any, threshold: Any, leaf: Any) -> None:
    # Unsigned indices: others are looked at for whether they count from the end.
    for i in prange(out.size):
        row = rows[i * 28 : i * 28 + 28]
        total = _f32(0)
        for tree in range(500):
            features = feature[tree * 255 : tree * 255 + 255]
            thresholds = threshold[tree * 255 : tree * 255 + 255]
            leaves = leaf[tree * 256 : tree * 256 + 256]
            node = _u32(0)
            for _ in range(8):
                right = row[_u32(features[node])] > thresholds[node]
                node = _u32(_u32(2) * node + _u32(1) + _u32(right))
            total += leaves[_u32(node - _u32(255))]
        out[i] = total


_LOW = _u64(0xFFFFFFFF)


@_function
def _philox(draw: Any, element: Any, seed: Any) -> Any:
    """Return the first word of philox4x32-10 at site 0."""
    c0, c1, c2, c3 = _u64(draw), _u64(0), _u64(element) & _LOW, _u64(element) >> _u64(32)
    k0, k1 = _u64(seed) & _LOW, _u64(seed) >> _u64(32)
    for _ in range(10):
        p0, p1 = _u64(0xD2511F53) * c0, _u64(0xCD9E8D57) * c2
        c0, c1 = (p1 >> _u64(32)) ^ c1 ^ k0, p1 & _LOW
        c2, c3 = (p0 >> _u64(32)) ^ c3 ^ k1, p0 & _LOW
        k0, k1 = (k0 + _u64(0x9E3779B9)) & _LOW, (k1 + _u64(0xBB67AE85)) & _LOW
    return c0


def _first_passage(out: Any) -> None:
    for i in prange(out.size):
        x = 0
        steps = 0
        while abs(x) < 32:
            x += 1 if _philox(steps, i, 42) >> _u64(31) else -1
            steps += 1
        out[i] = steps


_LEVELS = 64


def _binomial_options(out: Any, spot: Any, strike: Any, time: Any) -> None:
    for k in prange(out.size):
        dt = time[k] / _f32(_LEVELS)
        u = math.exp(_f32(0.3) * math.sqrt(dt))
        d = _f32(1) / u
        up = (math.exp(_f32(0.02) * dt) - d) / (u - d)
        discount = math.exp(_f32(-0.02) * dt)
        price = np.empty(_LEVELS + 1, _f32)
        v = np.empty(_LEVELS + 1, _f32)
        s = spot[k]
        for _ in range(_LEVELS):
            s *= d
        for i in range(_LEVELS + 1):
            price[i] = s
            v[i] = max(strike[k] - s, _f32(0))
            s *= u * u
        # The prices of a level are those of the level after it times u: no chain of products, so
        # that the loop over i is vectorised.
        for level in range(_LEVELS - 1, -1, -1):
            for i in range(level + 1):
                price[i] *= u
                hold = discount * (up * v[i + 1] + (_f32(1) - up) * v[i])
                v[i] = max(hold, strike[k] - price[i])
        out[k] = v[0]


_RATE = 0.02


@_function
def _normal(x: Any) -> Any:
    return 0.5 * math.erfc(x * -(0.5**0.5))


def _implied_vol(out: Any, price: Any, spot: Any, strike: Any, time: Any) -> None:
    for i in prange(out.size):
        root = math.sqrt(time[i])
        money = math.log(spot[i] / strike[i]) + _RATE * time[i]
        paid = strike[i] * math.exp(-_RATE * time[i])
        sigma = 0.3
        for _ in range(50):
            spread = sigma * root
            d1 = (money + 0.5 * spread * spread) / spread
            diff = spot[i] * _normal(d1) - paid * _normal(d1 - spread) - price[i]
            if abs(diff) < 1e-10:
                break
            vega = spot[i] * root * math.exp(-0.5 * d1 * d1) * (1 / math.sqrt(2 * math.pi))
            sigma = min(max(sigma - diff / max(vega, 1e-8), 0.001), 5.0)
        out[i] = sigma


def _collatz(out: Any, n: Any) -> None:
    for i in prange(out.size):
        x = n[i]
        steps = 0
        while x != 1:
            x = 3 * x + 1 if x & 1 else x >> 1
            steps += 1
        out[i] = steps


@_function
def _hits_box(
    box: Any, at: Any, ox: Any, oy: Any, oz: Any, ix: Any, iy: Any, iz: Any, best: Any
) -> Any:
    x0, x1 = (box[at] - ox) * ix, (box[at + 3] - ox) * ix
    y0, y1 = (box[at + 1] - oy) * iy, (box[at + 4] - oy) * iy
    z0, z1 = (box[at + 2] - oz) * iz, (box[at + 5] - oz) * iz
    near = max(max(min(x0, x1), min(y0, y1)), max(min(z0, z1), _f32(0)))
    far = min(min(max(x0, x1), max(y0, y1)), min(max(z0, z1), best))
    return near <= far


@_function
def _hit_triangle(v: Any, at: Any, ox: Any, oy: Any, oz: Any, dx: Any, dy: Any, dz: Any) -> Any:
    """Möller and Trumbore's test; the distance, or 0 if the ray passes."""
    ax, ay, az = v[at + 3] - v[at], v[at + 4] - v[at + 1], v[at + 5] - v[at + 2]
    bx, by, bz = v[at + 6] - v[at], v[at + 7] - v[at + 1], v[at + 8] - v[at + 2]
    px, py, pz = dy * bz - dz * by, dz * bx - dx * bz, dx * by - dy * bx
    inverse = _f32(1) / (ax * px + ay * py + az * pz)
    sx, sy, sz = ox - v[at], oy - v[at + 1], oz - v[at + 2]
    a = (sx * px + sy * py + sz * pz) * inverse
    qx, qy, qz = sy * az - sz * ay, sz * ax - sx * az, sx * ay - sy * ax
    b = (dx * qx + dy * qy + dz * qz) * inverse
    if a >= _f32(0) and b >= _f32(0) and a + b <= _f32(1):
        return (bx * qx + by * qy + bz * qz) * inverse
    return _f32(0)


def _ray_bvh(
    out: Any,
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
) -> None:
    for i in prange(out.size):
        ix, iy, iz = _f32(1) / dx[i], _f32(1) / dy[i], _f32(1) / dz[i]
        stack = np.empty(32, _u32)
        stack[0] = 0
        depth = 1
        best = _f32(1e30)
        while depth > 0:
            depth -= 1
            node = stack[depth]
            if not _hits_box(node_box, node * 6, ox[i], oy[i], oz[i], ix, iy, iz, best):
                continue
            left = node_left[node]
            if node_count[node] == 0:
                stack[depth] = left + 1
                stack[depth + 1] = left
                depth += 2
            for k in range(left, left + node_count[node]):
                t = _hit_triangle(triangle, k * 9, ox[i], oy[i], oz[i], dx[i], dy[i], dz[i])
                if t > _f32(1e-4) and t < best:
                    best = t
        out[i] = best


def _accumulate(out: Any, x: Any) -> None:
    for i in prange(out.size):
        s = np.int32(0)
        for k in range(np.int32(100)):
            s = np.int32(s + x[i] * np.int32(k))
        out[i] = s


LOOPS = {
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
}
