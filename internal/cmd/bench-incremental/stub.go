//go:build !incremental

package main

import (
	"errors"
	"io"
)

// run stands in until scheduling has Compile and WhatIf; with them, this file and the build tag go.
func run(config, io.Writer) (bool, error) {
	return false, errors.New("scheduling has no what-ifs yet; once it has, build with -tags incremental")
}
