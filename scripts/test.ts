/**
 * `npm test`: all tests, or those whose files match the arguments. Lists skipped tests, and ends with a line of counts.
 *
 * 1. A skipped suite that has no tests, because they are made from files that are absent, is listed and counted too.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Reporter, startVitest, type TestCase, type TestSuite } from "vitest/node";

/** Recordings of a real server, next to the project. */
const RECORDINGS = resolve(import.meta.dirname, "../../shared");

const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
const skipped: string[] = [];

const counter: Reporter = {
  onTestCaseResult(test: TestCase) {
    const { state } = test.result();
    counts[state] += 1;
    if (state === "skipped") skipped.push(`${test.module.relativeModuleId}: ${test.fullName}`);
  },
};

const vitest = await startVitest("test", process.argv.slice(2), {
  watch: false,
  reporters: [process.stdout.isTTY ? "default" : "verbose", counter],
});
const broken = vitest.state.getUnhandledErrors().length;
// A hook or a module that throws fails no test itself, but prevents all of its tests.
const modules = vitest.state.getTestModules();
const suites = modules.flatMap((module) => [...module.children.allSuites()]);
const brokenSuites = [...modules, ...suites].filter((suite) => suite.errors().length > 0).length;
for (const suite of suites.filter(isSkippedAndEmpty)) {
  skipped.push(`${suite.module.relativeModuleId}: ${suite.fullName} (all of its tests)`);
  counts.skipped += 1;
}
await vitest.close();

for (const name of skipped) console.log(`skipped: ${name}`);
if (!existsSync(RECORDINGS)) console.log("../shared is absent: tests that compare with a real server were skipped");
const failed = counts.failed + broken + brokenSuites;
console.log(`${counts.passed} passed, ${failed} failed, ${counts.skipped} skipped`);
process.exit(failed > 0 || counts.passed === 0 ? 1 : 0);

function isSkippedAndEmpty(suite: TestSuite): boolean {
  return suite.options.mode === "skip" && [...suite.children.allTests()].length === 0;
}
