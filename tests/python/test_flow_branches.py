"""Branches, expressions and other statements: what is given on arrays is what elements give."""

from flow_cases import COUNTS, FLOATS, INTEGERS, Cases

case = Cases()


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


test_a_function_gives_on_arrays_what_it_gives_for_each_element = case.test()
