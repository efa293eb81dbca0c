/**
 * `npm test`: all tests, or those whose files match the arguments. Lists skipped tests, and ends with a line of counts.
 *
 * 1. A skipped suite that has no tests, because they are made from files that are absent, is listed and counted too.
 * 2. Files that fail run once more, alone: many tests start clusters, and two files at once can leave too little of a small machine for either.
 *    What passes only then is listed by name. A test that fails both times has failed; so has the run if many files fail.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Reporter, startVitest, type TestCase, type TestModule, type TestSuite } from "vitest/node";

/** Recordings of a real server, next to the project. */
const RECORDINGS = resolve(import.meta.dirname, "../../shared");
/** More failures than this have a cause that a second run does not change. */
const FILES_TO_REPEAT = 6;

/** The outcome of one file. */
interface Results {
  passed: number;
  readonly failed: string[];
  readonly skipped: string[];
}

interface Run {
  readonly files: ReadonlyMap<string, Results>;
  /** Errors outside of any test. */
  readonly strayErrors: number;
}

const first = await run(process.argv.slice(2), {});
const failedFiles = [...first.files].filter(([, { failed }]) => failed.length > 0).map(([file]) => file);
const isWorthRepeating = first.strayErrors === 0 && failedFiles.length > 0 && failedFiles.length <= FILES_TO_REPEAT;
const second = isWorthRepeating ? await run(failedFiles, { maxWorkers: 1 }) : undefined;

const results = [...new Map([...first.files, ...(second?.files ?? [])]).values()];
for (const name of results.flatMap(({ skipped }) => skipped)) console.log(`skipped: ${name}`);
if (!existsSync(RECORDINGS)) console.log("../shared is absent: tests that compare with a real server were skipped");
for (const [file, { failed }] of second?.files ?? []) {
  if (failed.length > 0) continue;
  for (const name of first.files.get(file)?.failed ?? []) console.log(`passed at the second try only: ${name}`);
}
const passed = results.reduce((sum, file) => sum + file.passed, 0);
const failed = results.reduce((sum, file) => sum + file.failed.length, (second ?? first).strayErrors);
const skipped = results.reduce((sum, file) => sum + file.skipped.length, 0);
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);

async function run(filters: readonly string[], options: { readonly maxWorkers?: number }): Promise<Run> {
  const files = new Map<string, Results>();
  const resultsOf = ({ moduleId }: TestModule): Results => {
    const known = files.get(moduleId) ?? { passed: 0, failed: [], skipped: [] };
    files.set(moduleId, known);
    return known;
  };
  const counter: Reporter = {
    onTestCaseResult(test: TestCase) {
      const results = resultsOf(test.module);
      const { state } = test.result();
      if (state === "passed") results.passed += 1;
      if (state === "failed") results.failed.push(nameOf(test));
      if (state === "skipped") results.skipped.push(nameOf(test));
    },
  };
  const vitest = await startVitest("test", [...filters], {
    ...options,
    watch: false,
    reporters: [process.stdout.isTTY ? "default" : "verbose", counter],
  });
  for (const module of vitest.state.getTestModules()) {
    const results = resultsOf(module);
    const suites = [...module.children.allSuites()];
    // A hook or a module that throws fails no test itself, but prevents all of its tests.
    if (module.errors().length > 0) results.failed.push(module.relativeModuleId);
    results.failed.push(...suites.filter((suite) => suite.errors().length > 0).map(nameOf));
    results.skipped.push(...suites.filter(isSkippedAndEmpty).map((suite) => `${nameOf(suite)} (all of its tests)`));
  }
  const strayErrors = vitest.state.getUnhandledErrors().length;
  await vitest.close();
  return { files, strayErrors };
}

function nameOf(part: TestCase | TestSuite): string {
  return `${part.module.relativeModuleId}: ${part.fullName}`;
}

function isSkippedAndEmpty(suite: TestSuite): boolean {
  return suite.options.mode === "skip" && [...suite.children.allTests()].length === 0;
}
