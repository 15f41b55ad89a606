//go:build !unix

package symbolfiles

const openFlags = 0
