"""Builtins and mathematics: what is given on arrays is what elements give."""

import math

import numpy as np
from flow_cases import FLOATS, INTEGERS, Cases

import lanewise as lw

case = Cases()


@case(FLOATS)
def builtins_of_numbers(x):
    return abs(x) + max(x, 1, 0.5) + min(x, 2) + sum([x, x]) + pow(x, 2)


@case(FLOATS)
def conversions(x):
    return int(x) + int(x > 1) + float(int(x)) + bool(x)


@case(FLOATS)
def rounding(x):
    return (
        math.floor(x) * 1000 + math.ceil(x) * 100 + math.trunc(x) * 10 + round(x) + round(x * 8) / 8
    )


@case(FLOATS)
def any_and_all(x):
    return any(x > t for t in (3, 8)) + 2 * all([x > -5, x < 5])


@case(FLOATS)
def divisions_of_floats(x):
    q, r = divmod(x, 0.75)
    return q * 100 + r + x // 2 + x % -3


@case(INTEGERS)
def divisions_of_integers(n):
    q, r = divmod(n, -4)
    return q * 100 + r + n // 3 + n % 5


@case(INTEGERS)
def bits_and_powers(n):
    return (n & 6) ^ (n << 2) | (n >> 1) + n**3 - n**5 + 3 * n**0


@case(FLOATS)
def square_roots(x):
    return math.sqrt(x) if x >= 0 else -math.sqrt(-x)


@case(FLOATS)
def math_predicates(x):
    y = x * 1e308
    return math.isinf(y) + 2 * math.isfinite(y) + 4 * math.isnan(y - y)


@case(FLOATS)
def copysign_modf_ldexp(x):
    rest, whole = math.modf(x)
    mantissa, exponent = math.frexp(x)
    return math.copysign(2, x) + rest + whole * 8 + math.ldexp(x, 3) + mantissa + exponent


@case(FLOATS)
def isinstance_of_an_element(x):
    if isinstance(x, float):
        return x
    return 0


@case(FLOATS)
def numpy_over_lists(x):
    items = [x, 2.0, -x]
    return (
        np.sum(items) + np.max(items) - np.min([x, 1.0]) + np.dot([x, 1], [2, x]) + np.mean(items)
    )


@case(FLOATS)
def functions_of_this_package_on_plain_numbers(x):
    return lw.rsqrt(4.0) + x if x > 0 else lw.select(True, x, 1.0)


test_a_function_gives_on_arrays_what_it_gives_for_each_element = case.test()
