"""What small questions of several kinds say beside their names, their texts and their designs."""

OPTIONS = [{"name": name, "text": name} for name in ("red", "green", "blue")]
NUMBERS = {"low": 0, "high": 4, "step": 1}
