"""Programs of TensorFlow's map family, under TensorFlow and under ``lanewise.compat.tf``."""
