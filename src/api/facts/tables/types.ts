/** Written by scripts/api-facts.ts from k8s.io/apimachinery/pkg/types 0.36.4: not to be edited. */
export const types = `
package io.k8s.apimachinery.pkg.types

alias NodeName string
alias UID string
`;
