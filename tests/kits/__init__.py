"""What several tests share: tables built once, random positions, planted errors."""
