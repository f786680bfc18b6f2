"""Plain Python functions give on arrays what they give when called for each element."""

import dataclasses
import functools
import math
from collections import namedtuple

import numpy as np
import pytest

import lanewise as lw

FLOATS = np.array([-7.25, -3.5, -1.0, -0.5, -0.0, 0.0, 0.25, 1.0, 2.0, 3.0, 4.5, 9.0, 17.0, 100.0])
INTEGERS = np.array([-13, -5, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 12, 27, 97])
COUNTS = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 19, 40])

CASES = []


def case(values):
    """Take a function of one number into the table."""

    def add(function):
        CASES.append(pytest.param(function, values, id=function.__name__))
        return function

    return add


# --- if ---


@case(FLOATS)
def if_else(x):
    if x > 0:
        y = x * 2
    else:
        y = -x
    return y


@case(FLOATS)
def if_without_else(x):
    y = 1.0
    if x > 1:
        y = x
    return y


@case(FLOATS)
def elif_chain(x):
    if x < -2:
        r = 1
    elif x < 0:
        r = 2
    elif x == 0:
        r = 3
    else:
        r = 4
    return r


@case(FLOATS)
def nested_ifs(x):
    r = 0.0
    if x > 0:
        if x > 2:
            r = x
        else:
            r = x * 10
            if x == 1:
                r = r + 1
    elif x < -3:
        r = -x
    return r


@case(FLOATS)
def an_int_that_becomes_a_float_in_one_branch(x):
    r = 0
    if x > 1:
        r = x / 2
    return r


@case(INTEGERS)
def branches_of_different_types(n):
    r = n if n > 2 else 0.5
    if n < 0:
        s = 1
    else:
        s = 2.5
    return r + s


@case(FLOATS)
def a_truth_of_a_number(x):
    if x:
        return 1
    return 0


@case(FLOATS)
def if_not(x):
    if not x > 1:
        return -x
    return x


@case(INTEGERS)
def a_plain_condition_stays_plain(n):
    flag = True
    if flag:
        return n + 1
    return undefined_name  # noqa: F821


@case(FLOATS)
def several_variables(x):
    a, b = x, 1.0
    if x > 0:
        a, b = b, a
    else:
        b += 2
    return a - 3 * b


@case(FLOATS)
def one_branch_returns(x):
    if x < 0:
        return 0.0
    else:
        y = x + 1
    return y


@case(FLOATS)
def all_branches_return(x):
    if x < 0:
        return -1
    elif x == 0:
        return 0
    else:
        return 1


@case(FLOATS)
def both_branches_give_the_same_number(x):
    if x > 0:
        n = 3
    else:
        n = 3
    total = 0.0
    for _ in range(n):
        total += x
    return total


# --- expressions ---


@case(FLOATS)
def ternary(x):
    return x if x > 0 else -x * 3


@case(INTEGERS)
def a_ternary_keeps_off_what_would_fail(n):
    return 100 // n if n != 0 else -1


@case(INTEGERS)
def and_keeps_off_what_would_fail(n):
    return 1 if n != 0 and 100 // n > 10 else 0


@case(INTEGERS)
def or_keeps_off_what_would_fail(n):
    return 1 if n == 0 or 100 // n > 10 else 0


@case(FLOATS)
def and_of_three(x):
    return 1 if x > -4 and x < 5 and x != 0 else 0


@case(FLOATS)
def and_and_or_give_values(x):
    return (x and 5.0) + (x or 7.0)


@case(FLOATS)
def not_of_elements(x):
    return not (x > 1 or x < -1)


@case(FLOATS)
def a_chain_of_comparisons(x):
    return 1 if -1 < x <= 3 else 0


@case(INTEGERS)
def a_chain_keeps_off_what_would_fail(n):
    return 1 if 0 < n < 1000 // (n if n else 1) else 0


@case(FLOATS)
def membership(x):
    return 1 if x in (1, 2.0, 9) else (2 if x not in [0, 4.5] else 3)


@case(FLOATS)
def walrus(x):
    if (y := x * 2) > 3:
        return y
    return y - 1


@case(FLOATS)
def a_tuple_of_two_ternaries(x):
    a, b = (x, 1.0) if x > 0 else (2.0, -x)
    return a * 10 + b


@case(FLOATS)
def nested_ternaries(x):
    return 1 if x > 3 else 2 if x > 0 else 3 if x > -3 else 4


# --- while ---


@case(FLOATS)
def while_halves(x):
    n = 0
    while x > 1:
        x = x / 2
        n += 1
    return n


@case(np.array([1, 2, 3, 6, 7, 27, 97]))
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@case(FLOATS)
def while_true_with_break(x):
    n = 0
    while True:
        if x > 50 or n >= 20:
            break
        x = x * 1.5 + 1
        n += 1
    return x + n


@case(COUNTS)
def while_with_continue(n):
    total = 0
    i = 0
    while i < n:
        i += 1
        if i % 3 == 0:
            continue
        total += i
    return total


@case(COUNTS)
def while_else(n):
    i = 0
    while i < n:
        i += 1
        if i == 7:
            r = -1
            break
    else:
        r = i
    return r


@case(FLOATS)
def while_and_walrus(x):
    n = 0
    while (y := x * x) < 1000:
        x = y + 1
        n += 1
    return n + y


@case(COUNTS)
def nested_whiles(n):
    total = 0
    i = 0
    while i < n:
        j = 0
        while j < i:
            total += i * j
            j += 1
        i += 1
    return total


@case(COUNTS)
def return_from_inner_loop(n):
    for i in range(n):
        for j in range(i):
            if i * j > 20:
                return i * 100 + j
    return -1


@case(FLOATS)
def a_variable_of_the_body_read_after_while_true(x):
    while True:
        y = x * 2
        if y > 10 or y < -10 or x == 0:
            break
        x = y
    return y


@case(COUNTS)
def integers_that_become_floats_in_a_loop(n):
    x = 0
    k = 0
    while k < n:
        x += 0.5
        k += 1
    return x


@case(COUNTS)
def a_plain_loop_stays_plain(n):
    k = 1
    while k < 100:
        k *= 2
    return n + k


@case(FLOATS)
def swap_in_a_loop(x):
    a, b = 0.0, 1.0
    for _ in range(10):
        a, b = b, a + x * b
    return a


# --- for ---


@case(COUNTS)
def for_over_a_range_of_an_element(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


@case(COUNTS)
def for_with_start_and_step(n):
    total = 0
    for i in range(3, n, 2):
        total = total * 2 + i
    return total


@case(COUNTS)
def for_downwards(n):
    total = 1
    for i in range(n, 0, -3):
        total = total + i * total % 7
    return total


@case(FLOATS)
def for_over_a_long_plain_range(x):
    for i in range(30):
        x = x + i
        if x > 100:
            x = x - 90
    return x


@case(FLOATS)
def for_over_a_short_range(x):
    for i in range(4):
        if x > i:
            x = x - i
    return x


@case(FLOATS)
def for_with_break_and_else(x):
    for i in range(20):
        x = x + i
        if x > 40:
            break
        if x > 20:
            continue
        x = x * 1.5
    else:
        x = -x
    return x


@case(FLOATS)
def unrolled_for_with_break_continue_else(x):
    t = 0
    for k in (1, 2, 3):
        if x > k:
            t += k
        elif x == k:
            continue
        else:
            break
        t += 10
    else:
        t = t * 100
    return t


@case(FLOATS)
def the_last_index_after_a_loop(x):
    for i in range(10):
        if x < i:
            break
    return i


@case(FLOATS)
def enumerate_and_zip(x):
    total = 0.0
    for i, (a, b) in enumerate(zip((1, 2, 3), [x, 2 * x, 0.5])):  # noqa: B905
        if b > i:
            total += a * b
    return total


@case(FLOATS)
def reversed_range_and_list(x):
    total = 0.0
    for i in reversed(range(12)):
        total = total / 2 + i * x
    for v in reversed([x, 1.0, 2.0]):
        total = total * 2 - v
    return total


@case(FLOATS)
def a_dict_in_a_loop(x):
    weights = {"a": 1.0, "b": 2.0}
    total = 0.0
    for key, weight in weights.items():
        total += weight * (x if key == "a" else -1)
    return total


@case(COUNTS)
def break_in_both_loops(n):
    total = 0
    for i in range(12):
        for j in range(12):
            if j > n:
                break
            total += 1
        if total > 40:
            break
    return total * 100 + i


@case(COUNTS)
def a_plain_break_in_an_unrolled_loop(n):
    total = 0
    for k in range(5):
        if n == k:
            continue
        if k == 3:
            break
        total += k + n
    return total


@case(COUNTS)
def a_return_in_an_unrolled_loop(n):
    for k in (1, 5, 9):
        if n < k:
            return k * 10
        if k == 9:
            return n
    return -1


# --- functions ---


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


# --- containers ---


@case(FLOATS)
def a_list_that_some_elements_change(x):
    a = [0.0] * 3
    if x > 0:
        a[1] = x
    else:
        a[0] = 1
    return a[0] + 10 * a[1] + a[2]


@case(COUNTS)
def a_list_with_an_element_as_index(n):
    table = [3, 1, 4, 1, 5, 9]
    return table[n % 6] * 10 + table[-1 - n % 6]


@case(COUNTS)
def a_list_written_by_element_index(n):
    seen = [0] * 7
    k = n
    for _ in range(9):
        k = (k * 3 + 1) % 7
        seen[k] += 1
    return seen[0] * 1000 + seen[n % 7] * 10 + max(seen)


@case(COUNTS)
def an_array_as_a_sieve(n):
    composite = np.zeros(64, dtype=np.bool_)
    for i in range(2, 8):
        for j in range(i * i, 64, i):
            composite[j] = True
    count = 0
    for i in range(2, n):
        if not composite[i]:
            count += 1
    return count


@case(COUNTS)
def a_matrix(n):
    m = np.zeros((2, 3), dtype=np.int64)
    for r in range(2):
        for s in range(3):
            m[r, s] = r * s + n
    m[n % 2, n % 3] = 100
    return m[0, 0] + m[1, 2]


@case(COUNTS)
def appending_in_a_plain_range(n):
    powers = []
    for k in range(12):
        powers.append(n * k)
    return sum(powers) + len(powers)


@case(FLOATS)
def comprehensions(x):
    squares = [v * v for v in (x, 1.0, 2.0)]
    pairs = {k: x + k for k in range(3)}
    return sum(squares) + pairs[2] + sum(i * x for i in range(3))


@case(COUNTS)
def a_dict_that_a_loop_changes(n):
    t = {"n": 0, "s": 1.5}
    while t["n"] < n:
        t["n"] += 1
        t["s"] *= 2
    return t["s"]


Point = namedtuple("Point", "x y")


@dataclasses.dataclass
class Body:
    position: float
    speed: float


@case(FLOATS)
def named_tuples_in_branches(x):
    p = Point(x, 1.0)
    if x > 0:
        p = Point(p.y, p.x)
    else:
        p = p._replace(y=4.0)
    return p.x * 10 + p.y


@case(FLOATS)
def dataclasses_in_loops(x):
    body = Body(x, 1.0)
    for _ in range(20):
        body = Body(body.position + body.speed, body.speed * 0.5)
        if body.position > 3:
            body = Body(3.0, -body.speed)
    return body.position


@case(FLOATS)
def tuples_carried_by_a_loop(x):
    state = (x, 0)
    while state[0] < 10:
        state = (state[0] * 2 + 8, state[1] + 1)
    return state[0] + state[1]


@case(COUNTS)
def starred_targets(n):
    first, *rest = [n, 2, 3, n + 1]
    if n > 3:
        first, *rest = [1, 2, n, 4]
    return first * 100 + sum(rest)


# --- builtins and math ---


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


# --- other statements ---


@case(FLOATS)
def try_finally_and_with(x):
    try:
        y = x + 1 if x > 0 else x
    finally:
        y = y * 2
    try:
        raise KeyError
    except KeyError:
        y = y + 1
    return y


@case(FLOATS)
def deleting_a_name(x):
    y = x
    if x > 0:
        z = y
        del y
        y = z + 1
    return y


@case(FLOATS)
def an_assertion(x):
    assert x > -100, "never"
    return x


@case(FLOATS)
def match_on_a_plain_value(x):
    mode = "double"
    match mode:
        case "double":
            return x * 2
        case _:
            return x


@case(INTEGERS)
def match_on_elements(n):
    match n % 7:
        case 0:
            r = 10
        case 1 | 2:
            r = 20
        case 3 if n > 10:
            r = 30
        case _:
            r = n
    match n:
        case 5:
            return -1
        case -1 | 12:
            return -2
    return r


@case(COUNTS)
def match_in_a_loop(n):
    total = 0
    for i in range(n):
        match i % 4:
            case 0:
                continue
            case 1:
                total += i
            case 3 if total > 30:
                break
    return total


@pytest.mark.parametrize("options", [{"compile": "never"}, {"compile": "now"}], ids=str)
@pytest.mark.parametrize(("function", "values"), CASES)
def test_a_function_gives_on_arrays_what_it_gives_for_each_element(function, values, options):
    got = lw.vectorize(function, **options)(values)
    expected = np.array([function(value) for value in values.tolist()])
    assert got.dtype.kind == expected.dtype.kind
    np.testing.assert_array_equal(got, expected)


def test_the_table_has_every_construct():
    assert len(CASES) >= 60
