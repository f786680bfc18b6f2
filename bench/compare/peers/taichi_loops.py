# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
"""The workloads with loops for Taichi: kernels whose outermost loop goes over the elements.

Arguments are the output, the inputs and the tables in the order of the task. Constants are of the
task's type, which is Taichi's default when a kernel is compiled.
"""

import importlib
from collections.abc import Callable
from math import pi
from types import FunctionType
from typing import TYPE_CHECKING, Any

from .tsit5 import make_lorenz, make_van_der_pol

ti: Any = importlib.import_module("taichi")

if TYPE_CHECKING:
    Array = Any
    Template = Any
else:
    Array = ti.types.ndarray(ndim=1)
    Template = ti.template()


def _function(f: Callable[..., Any]) -> Any:
    # Taichi reads annotations as its own; a copy has none.
    return ti.func(FunctionType(f.__code__, f.__globals__, f.__name__, None, f.__closure__))


@ti.kernel
def _mandelbrot(out: Array, a: Array, b: Array):
    for i in range(out.shape[0]):
        x = 0.0
        y = 0.0
        n = 0
        while x * x + y * y <= 4.0 and n < 1000:
            t = x * x - y * y + a[i]
            y = 2.0 * x * y + b[i]
            x = t
            n += 1
        out[i] = n


@ti.kernel
def _kepler(out: Array, m: Array, e: Array):
    for i in range(out.shape[0]):
        x = m[i]
        n = 0
        while n < 50:
            d = (x - e[i] * ti.sin(x) - m[i]) / (1.0 - e[i] * ti.cos(x))
            x -= d
            if abs(d) < 1e-12:
                break
            n += 1
        out[i] = x


_MOST_STEPS = 100_000
_lorenz_slope, _lorenz_step = make_lorenz(_function, ti.max)
_van_der_pol_slope, _van_der_pol_step = make_van_der_pol(_function, ti.max)


@ti.func
def _growth(error):
    return ti.min(5.0, ti.max(0.2, 0.9 * ti.max(error, 1e-10) ** -0.2))


@ti.kernel
def _ode_lorenz(out: Array, parameter: Array):
    for i in range(out.shape[0]):
        end = 5.0
        rho = parameter[i]
        x, y, z = 1.0, 1.0, 1.0
        kx, ky, kz = _lorenz_slope(rho, x, y, z)
        t = 0.0
        h = 0.01
        steps = 0
        while t < end and steps < _MOST_STEPS:
            clipped = h >= end - t
            h = ti.min(h, end - t)
            new_x, new_y, new_z, new_kx, new_ky, new_kz, error = _lorenz_step(
                rho, h, x, y, z, kx, ky, kz
            )
            if error <= 1.0:
                t = ti.select(clipped, end, t + h)
                x, y, z = new_x, new_y, new_z
                kx, ky, kz = new_kx, new_ky, new_kz
            h *= _growth(error)
            steps += 1
        out[i] = x


@ti.kernel
def _ode_van_der_pol(out: Array, parameter: Array):
    for i in range(out.shape[0]):
        end = 20.0
        mu = parameter[i]
        y, v = 2.0, 0.0
        ky, kv = _van_der_pol_slope(mu, y, v)
        t = 0.0
        h = 0.01
        steps = 0
        while t < end and steps < _MOST_STEPS:
            clipped = h >= end - t
            h = ti.min(h, end - t)
            new_y, new_v, new_ky, new_kv, error = _van_der_pol_step(mu, h, y, v, ky, kv)
            if error <= 1.0:
                t = ti.select(clipped, end, t + h)
                y, v, ky, kv = new_y, new_v, new_ky, new_kv
            h *= _growth(error)
            steps += 1
        out[i] = y


@ti.kernel
def _tree_ensemble(out: Array, rows: Array, feature: Array, threshold: Array, leaf: Array):
    for i in range(out.shape[0]):
        total = 0.0
        for tree in range(500):
            node = 0
            for _ in ti.static(range(8)):
                at = tree * 255 + node
                right = rows[i * 28 + feature[at]] > threshold[at]
                node = 2 * node + 1 + ti.select(right, 1, 0)
            total += leaf[tree * 256 + node - 255]
        out[i] = total


@ti.func
def _product(a, b):
    """Return the high and the low word."""
    product = ti.cast(a, ti.u64) * ti.cast(b, ti.u64)
    return ti.cast(product >> 32, ti.u32), ti.cast(product, ti.u32)


@ti.func
def _philox(draw, element, seed):
    """Return the first word of philox4x32-10 at site 0."""
    c0, c1 = ti.cast(draw, ti.u32), ti.u32(0)
    c2, c3 = ti.cast(element, ti.u32), ti.u32(0)
    k0, k1 = ti.cast(seed, ti.u32), ti.u32(0)
    for _ in ti.static(range(10)):
        high0, low0 = _product(c0, ti.u32(0xD2511F53))
        high1, low1 = _product(c2, ti.u32(0xCD9E8D57))
        c0 = high1 ^ c1 ^ k0
        c1 = low1
        c2 = high0 ^ c3 ^ k1
        c3 = low0
        k0 += ti.u32(0x9E3779B9)
        k1 += ti.u32(0xBB67AE85)
    return c0


@ti.kernel
def _first_passage(out: Array):
    for i in range(out.shape[0]):
        x = 0
        steps = 0
        while abs(x) < 32:
            x += ti.select(_philox(steps, i, 42) >> 31 == 1, 1, -1)
            steps += 1
        out[i] = steps


_LEVELS = 64


@ti.kernel
def _binomial_options(out: Array, spot: Array, strike: Array, time: Array):
    for k in range(out.shape[0]):
        dt = time[k] / _LEVELS
        u = ti.exp(0.3 * ti.sqrt(dt))
        d = 1.0 / u
        up = (ti.exp(0.02 * dt) - d) / (u - d)
        discount = ti.exp(-0.02 * dt)
        v = ti.Vector.zero(ti.f32, _LEVELS + 1)
        price = ti.Vector.zero(ti.f32, _LEVELS + 1)
        s = spot[k]
        for _ in range(_LEVELS):
            s *= d
        for i in range(_LEVELS + 1):
            price[i] = s
            v[i] = ti.max(strike[k] - s, 0.0)
            s *= u * u
        for level in range(_LEVELS):
            for i in range(_LEVELS - level):
                price[i] *= u
                hold = discount * (up * v[i + 1] + (1.0 - up) * v[i])
                v[i] = ti.max(hold, strike[k] - price[i])
        out[k] = v[0]


_RATE = 0.02
_ROOT_TWO_PI = (2 * pi) ** 0.5

# Hart's rational approximation of the normal distribution times exp(x²/2), as G. West gives it in
# "Better approximations to cumulative normal functions" (2005): Taichi has no error function.
_NUMERATOR = (
    3.52624965998911e-02,
    0.700383064443688,
    6.37396220353165,
    33.912866078383,
    112.079291497871,
    221.213596169931,
    220.206867912376,
)
_DENOMINATOR = (
    8.83883476483184e-02,
    1.75566716318264,
    16.064177579207,
    86.7807322029461,
    296.564248779674,
    637.333633378831,
    793.826512519948,
    440.413735824752,
)


@ti.func
def _normal(x):
    z = abs(x)
    tail = 0.0
    if z < 7.0:
        numerator = 0.0
        for c in ti.static(_NUMERATOR):
            numerator = numerator * z + c
        denominator = 0.0
        for c in ti.static(_DENOMINATOR):
            denominator = denominator * z + c
        tail = ti.exp(-0.5 * z * z) * numerator / denominator
    else:
        fraction = z + 1.0 / (z + 2.0 / (z + 3.0 / (z + 4.0 / (z + 0.65))))
        tail = ti.exp(-0.5 * z * z) / (fraction * _ROOT_TWO_PI)
    return ti.select(x > 0.0, 1.0 - tail, tail)


@ti.kernel
def _implied_vol(out: Array, price: Array, spot: Array, strike: Array, time: Array):
    for i in range(out.shape[0]):
        root = ti.sqrt(time[i])
        money = ti.log(spot[i] / strike[i]) + _RATE * time[i]
        paid = strike[i] * ti.exp(-_RATE * time[i])
        sigma = 0.3
        n = 0
        while n < 50:
            spread = sigma * root
            d1 = (money + 0.5 * spread * spread) / spread
            diff = spot[i] * _normal(d1) - paid * _normal(d1 - spread) - price[i]
            if abs(diff) < 1e-10:
                break
            vega = spot[i] * root * ti.exp(-0.5 * d1 * d1) / _ROOT_TWO_PI
            sigma = ti.min(ti.max(sigma - diff / ti.max(vega, 1e-8), 0.001), 5.0)
            n += 1
        out[i] = sigma


@ti.kernel
def _collatz(out: Array, n: Array):
    for i in range(out.shape[0]):
        x = n[i]
        steps = 0
        while x != 1:
            x = ti.select(x & 1 == 1, 3 * x + 1, x >> 1)
            steps += 1
        out[i] = steps


@ti.func
def _corner(values: Template, at):
    return ti.Vector([values[at], values[at + 1], values[at + 2]])


@ti.kernel
def _ray_bvh(
    out: Array,
    ox: Array,
    oy: Array,
    oz: Array,
    dx: Array,
    dy: Array,
    dz: Array,
    node_box: Array,
    node_left: Array,
    node_count: Array,
    triangle: Array,
):
    for i in range(out.shape[0]):
        origin = ti.Vector([ox[i], oy[i], oz[i]])
        direction = ti.Vector([dx[i], dy[i], dz[i]])
        inverse = 1.0 / direction
        stack = ti.Vector.zero(ti.i32, 32)
        depth = 1
        best = 1e30
        while depth > 0:
            depth -= 1
            node = stack[depth]
            to_low = (_corner(node_box, node * 6) - origin) * inverse
            to_high = (_corner(node_box, node * 6 + 3) - origin) * inverse
            near = ti.max(ti.min(to_low, to_high).max(), 0.0)
            far = ti.min(ti.max(to_low, to_high).min(), best)
            if near <= far:
                left = node_left[node]
                count = node_count[node]
                if count == 0:
                    stack[depth] = left + 1
                    stack[depth + 1] = left
                    depth += 2
                # Möller and Trumbore's test.
                for k in range(left, left + count):
                    corner = _corner(triangle, k * 9)
                    edge1 = _corner(triangle, k * 9 + 3) - corner
                    edge2 = _corner(triangle, k * 9 + 6) - corner
                    p = direction.cross(edge2)
                    scale = 1.0 / edge1.dot(p)
                    s = origin - corner
                    q = s.cross(edge1)
                    a = s.dot(p) * scale
                    b = direction.dot(q) * scale
                    t = edge2.dot(q) * scale
                    if a >= 0.0 and b >= 0.0 and a + b <= 1.0 and 1e-4 < t < best:
                        best = t
        out[i] = best


@ti.kernel
def _accumulate(out: Array, x: Array):
    for i in range(out.shape[0]):
        s = 0
        for k in range(100):
            s += x[i] * k
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
