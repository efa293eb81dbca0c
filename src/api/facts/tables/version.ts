/** Written by scripts/api-facts.ts from k8s.io/apimachinery/pkg/version 0.36.4: not to be edited. */
export const version = `
package io.k8s.apimachinery.pkg.version

Info
 0 major! string
 0 minor! string
 0 emulationMajor? string
 0 emulationMinor? string
 0 minCompatibilityMajor? string
 0 minCompatibilityMinor? string
 0 gitVersion! string
 0 gitCommit! string
 0 gitTreeState! string
 0 buildDate! string
 0 goVersion! string
 0 compiler! string
 0 platform! string
`;
