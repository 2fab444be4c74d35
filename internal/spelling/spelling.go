// Package spelling measures how far apart two words are, for hints such as "did you mean".
package spelling

// Distance is the number of letters to insert, delete or replace to turn a into b (Levenshtein),
// byte by byte. Its cost is the product of the lengths: callers bound what they pass.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
