package main

import "github.com/spf13/cobra"

func (a *app) infoCmd() *cobra.Command { return &cobra.Command{Use: "info", Run: func(*cobra.Command, []string) {}} }
