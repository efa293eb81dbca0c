/** docs/http2-conformance.md, from the list of sections. */
import type { Section, Specification } from "./sections.ts";

const HEAD = `# HTTP/2 conformance

Which test covers which section of RFC 9113 (HTTP/2) and RFC 7541 (HPACK) for the API server's own HTTP/2
([src/apiserver/http2](../src/apiserver/http2/README.md)). Tests without a file are rows of
[conformance.test.ts](../src/apiserver/http2/conformance.test.ts): bytes sent to a connection, and the frames that it sends back, in one
piece and byte by byte. Each case of the public tool h2spec is among them: \`h2spec\` in a row names it.

This file is written by a test: \`npm test -- -u src/apiserver/http2/conformance.test.ts\` after a change.
`;

export function conformanceDocument(specifications: readonly Specification[]): string {
  return [HEAD, ...specifications.map(table)].join("\n");
}

function table(specification: Specification): string {
  const { rfc, title, sections } = specification;
  return [
    `## ${rfc}: ${title}`,
    "",
    "| section | tests |",
    "| --- | --- |",
    ...sections.map((section) => `| ${section.section} ${section.title} | ${cell(specification, section)} |`),
    "",
  ].join("\n");
}

function cell({ rows }: Specification, { section, tests = [], why }: Section): string {
  const names = (rows[section] ?? []).map(({ name }) => name);
  const elsewhere = tests.map(([file, test]) => `${test} ([${file}](../src/apiserver/${file}))`);
  return [...names, ...elsewhere, ...(why === undefined ? [] : [`_${why}_`])].join("<br>");
}
