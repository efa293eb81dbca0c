/**
 * `npm test`: all tests, or those whose files match the arguments. Names what was skipped, and ends with one line that counts.
 */
import { type Reporter, startVitest, type TestCase } from "vitest/node";

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
// A hook or a module that throws fails no test of its own, but takes all of its tests with it.
const brokenSuites = vitest.state
  .getTestModules()
  .flatMap((module) => [module, ...module.children.allSuites()])
  .filter((suite) => suite.errors().length > 0).length;
await vitest.close();

for (const name of skipped) console.log(`skipped: ${name}`);
const failed = counts.failed + broken + brokenSuites;
console.log(`${counts.passed} passed, ${failed} failed, ${counts.skipped} skipped`);
process.exit(failed > 0 || counts.passed === 0 ? 1 : 0);
