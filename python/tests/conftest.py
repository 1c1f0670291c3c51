pytest_plugins = ["weir_testing.plugin", "pytester"]
