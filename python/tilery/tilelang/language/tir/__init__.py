"""Operations on numbers."""
