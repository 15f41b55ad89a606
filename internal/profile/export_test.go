package profile

// Held returns the number of places that meters have neither passed on nor released.
func Held(b *Builder) (n int) {
	for _, s := range b.sets {
		if s.meter != nil {
			n += s.meter.Held()
		}
	}
	return n
}
