module plimsoll.invalid/gofakeit-peer

go 1.25.0

require github.com/brianvoe/gofakeit/v6 v6.28.0
