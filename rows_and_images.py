






import lanewise as lw
import numpy as np

def softmax(row):
    powers = np.exp(row - row.max())
    return powers / powers.sum()

rows = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 1000.0]])
print(lw.map(softmax, rows).round(3))











distance = lw.vectorize(lambda a, b: np.sqrt(((a - b) ** 2).sum()), signature="(n),(n)->()")
points, centres = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0], [3.0, 0.0]])
print(distance(points[:, None], centres))


















weights = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
bias = np.array([0.5, -0.5])

def layer(x):
    return np.maximum(x @ weights + bias, 0)

def running(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = x[: i + 1].sum()
    return y

print(lw.map(layer, rows))
print(lw.map(running, rows))






















