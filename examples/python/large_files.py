"""Files that are larger than memory: inputs and results are mapped, blocks go through."""

import tempfile
from pathlib import Path

import numpy as np

import lanewise as lw
from lanewise.blocks import split


@lw.vectorize
def energy(mass, speed):
    return mass * speed * speed / 2


def map_files(masses: Path, speeds: Path, result: Path, block_elements: int) -> int:
    """Map over two .npy files into a third; return how many blocks there were."""
    mass = np.asarray(np.load(masses, mmap_mode="r"))
    speed = np.asarray(np.load(speeds, mmap_mode="r"))
    out = np.asarray(np.lib.format.open_memmap(result, "w+", np.float64, mass.shape))
    blocks = list(split(mass.shape, block_elements))
    for block in blocks:
        energy(mass[block.place], speed[block.place], out=out[block.place])
    return len(blocks)


def main():
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        np.save(directory / "masses.npy", np.arange(1_000_000.0))
        np.save(directory / "speeds.npy", np.full(1_000_000, 2.0))
        files = [directory / f"{file}.npy" for file in ("masses", "speeds", "energies")]
        count = map_files(*files, block_elements=300_000)
        total = np.load(files[2]).sum()
        print(f"{count} blocks, {total:.0f} in all")
        # The same from the shell: lanewise map 'm * v * v / 2' masses.npy speeds.npy energies.npy


if __name__ == "__main__":
    main()
