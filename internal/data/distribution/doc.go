// Package distribution describes many numbers by their count, sum, minimum, maximum, mean and quantiles, in bounded
// memory.
//
// # Exactness
//
// Counts, minima and maxima are exact. Sums of integers are exact, regardless of their size. Sums of floating-point
// numbers are rounded once, so they do not depend on the order of the numbers. A quantile is the smallest number such
// that at least this share of the numbers is not greater. It is exact for up to 4,096 numbers. For more, quantiles come
// from a histogram with 32 steps per power of two: they deviate by at most 1/64 (1.6%) from the exact ones, and
// integers from -63 to 63 are still exact unless a number is a float64. The bound does not hold for subnormal numbers.
package distribution
