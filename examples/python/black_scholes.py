"""Option prices: a formula for one option, mapped over a grid of strikes and times."""

import numpy as np

import lanewise as lw


@lw.vectorize
def call_and_put(spot, strike, years, rate, volatility):
    """Black and Scholes, for one option."""
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + volatility * volatility / 2) * years) / spread
    d2 = d1 - spread
    discounted = strike * np.exp(-rate * years)
    call = spot * normal(d1) - discounted * normal(d2)
    return call, call - spot + discounted


def normal(x):
    """Share of a normal distribution below x; recorded with the function that calls it."""
    return lw.erfc(-x / np.sqrt(2)) / 2


def main():
    strikes = np.array([80.0, 100.0, 120.0])
    years = np.array([[0.5], [1.0], [2.0]])
    calls, puts = call_and_put(100.0, strikes, years, 0.03, 0.25)
    for row, calls_of_row, puts_of_row in zip(years[:, 0], calls, puts, strict=True):
        prices = zip(strikes, calls_of_row, puts_of_row, strict=True)
        for strike, call, put in prices:
            print(f"{row:.1f} years, strike {strike:.0f}: call {call:8.4f}, put {put:8.4f}")


if __name__ == "__main__":
    main()
