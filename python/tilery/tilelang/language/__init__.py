"""The functions of TileLang kernels: `import tilelang.language as T`."""
