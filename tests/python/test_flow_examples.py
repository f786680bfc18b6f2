"""Programs as people write them: searches, integrators, sorting, dynamic programming, stacks."""

import math

import numpy as np
import pytest

import lanewise as lw

T = np.sort(np.random.default_rng(0).uniform(size=1000))


def binary_search(x):
    lo, hi = 0, len(T)
    while lo < hi:
        mid = (lo + hi) // 2
        if T[mid] < x:
            lo = mid + 1
        else:
            hi = mid
    return lo


def integrate(y0):
    def f(t, y):
        return -2.0 * y + t

    t, y, h = 0.0, y0, 0.1
    steps = 0
    while t < 1.0:
        if t + h > 1.0:
            h = 1.0 - t
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        y4 = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        ye = y + h * k2
        err = abs(y4 - ye)
        if err > 1e-3:
            h *= 0.5
            continue
        t += h
        y = y4
        steps += 1
        if err < 1e-5:
            h *= 2
    return y, steps


def insertion_sort(seed):
    a = [0] * 10
    s = seed
    for i in range(10):
        s = (s * 1103515245 + 12345) % 2147483648
        a[i] = s % 100
    for i in range(1, 10):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a[0] * 10000 + a[4] * 100 + a[9]


def edit_distance(n):
    s = [(n * 7 + i * 3) % 4 for i in range(6)]
    t = [(n + i * i) % 4 for i in range(5)]
    d = np.zeros((7, 6), dtype=np.int64)
    for i in range(7):
        d[i, 0] = i
    for j in range(6):
        d[0, j] = j
    for i in range(1, 7):
        for j in range(1, 6):
            cost = 0 if s[i - 1] == t[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[6, 5]


def option_price(s):
    def cdf(x):
        return 0.5 * (1 + math.erf(x / math.sqrt(2)))

    k, t, r, v = 100.0, 1.0, 0.05, 0.2
    d1 = (math.log(s / k) + (r + v * v / 2) * t) / (v * math.sqrt(t))
    d2 = d1 - v * math.sqrt(t)
    return s * cdf(d1) - k * math.exp(-r * t) * cdf(d2)


def bisect(c):
    def solve(f, lo, hi, tol=1e-9):
        flo = f(lo)
        while hi - lo > tol:
            mid = 0.5 * (lo + hi)
            fm = f(mid)
            if (flo < 0) != (fm < 0):
                hi = mid
            else:
                lo, flo = mid, fm
        return 0.5 * (lo + hi)

    return solve(lambda x: x**3 - c, 0.0, 10.0)


def gcd(n):
    a, b = n, 360
    while b:
        a, b = b, a % b
    return a


def is_prime(n):
    if n < 2:
        return False
    i = 2
    while i * i <= n:
        if n % i == 0:
            return False
        i += 1
    return True


def walk_a_tree(n):
    stack = [0] * 16
    top = 0
    visited = 0
    stack[top] = n
    top += 1
    while top > 0:
        top -= 1
        v = stack[top]
        visited += 1
        if v > 1 and top < 14:
            stack[top] = v // 2
            top += 1
            if v % 3 == 0:
                stack[top] = v // 3
                top += 1
    return visited


U = np.random.default_rng(1).uniform(size=50) * 1.2
N = np.arange(60)


@pytest.mark.parametrize("compile", ["never", "now"])
@pytest.mark.parametrize(
    ("function", "values"),
    [
        (binary_search, U),
        (integrate, U * 3),
        (insertion_sort, N),
        (edit_distance, N),
        (option_price, U * 200 + 1),
        (bisect, U * 100),
        (gcd, N),
        (is_prime, N),
        (walk_a_tree, N),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_programs_give_on_arrays_what_they_give_for_each_element(function, values, compile):
    expected = np.array([function(value) for value in values.tolist()]).T
    got = np.array(lw.vectorize(function, compile=compile)(values))
    np.testing.assert_allclose(got, expected, rtol=1e-13)
