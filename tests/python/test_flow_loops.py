"""Loops: what is given on arrays is what elements give."""

import numpy as np
from flow_cases import COUNTS, FLOATS, Cases

case = Cases()


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


test_a_function_gives_on_arrays_what_it_gives_for_each_element = case.test()
