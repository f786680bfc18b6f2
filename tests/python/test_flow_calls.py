"""Functions, methods and objects: what is given on arrays is what elements give."""

import functools

from flow_cases import COUNTS, FLOATS, Cases

import lanewise as lw

case = Cases()


def clamp(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x


@case(FLOATS)
def calls_a_function_with_early_returns(x):
    return clamp(x, -1, 3) + clamp(x, 0.5, 2)


@case(FLOATS)
def calls_in_a_loop(x):
    for _ in range(10):
        x = clamp(x * 2, -20, 20) + 1
    return x


@case(FLOATS)
def a_nested_function(x):
    def step(y):
        if y > 3:
            return y / 2
        return y + x

    return step(step(x))


@case(FLOATS)
def a_nested_function_with_nonlocal(x):
    count = 0

    def visit(y):
        nonlocal count
        if y > 1:
            count += 1
        return y - 2

    while visit(x) > 0:
        x = x - 2
    return count


@case(FLOATS)
def lambdas(x):
    double, negate = (lambda v: v * 2 if v > 0 else v), (lambda v: -v if v > 0 else v)
    return double(x) + negate(x + 1)


@case(FLOATS)
def a_partial(x):
    return functools.partial(clamp, low=-2, high=2)(x)


class Scale:
    __offset = 1

    def __init__(self, factor):
        self.factor = factor

    def apply(self, x):
        if x > self.factor:
            return x * self.factor
        return self.__shift(x)

    def __shift(self, x):
        return x + self.__offset if x > 0 else x

    def __call__(self, x):
        return self.apply(x) if x < 5 else 5.0


class Twice(Scale):
    def apply(self, x):
        if x > 8:
            return 8.0
        return 2 * super().apply(x)


@case(FLOATS)
def methods(x):
    scale = Scale(3)
    return scale.apply(x) + scale(x) + Twice(2).apply(x)


@case(FLOATS)
def mapped_functions(x):
    return sum(map(lambda v: v if v > 0 else 0, [x, -x, 1.0]))


@case(COUNTS)
def plain_recursion(n):
    def power(x, k):
        return 1 if k == 0 else x * power(x, k - 1)

    return power(n, 5)


@lw.vectorize
def steps_to_one(n):
    k = 0
    while n > 1:
        n = n // 2
        k += 1
    return k


@case(COUNTS)
def another_vectorized_function(n):
    if n > 4:
        return int(steps_to_one(n)) + 1
    return 0


class Limited:
    def __init__(self, x):
        if x > 3:
            x = 3.0
        self.x = x


@case(FLOATS)
def objects_whose_making_branches(x):
    return Limited(x).x + Limited(-x).x


test_a_function_gives_on_arrays_what_it_gives_for_each_element = case.test()
