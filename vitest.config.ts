import { configDefaults, defineConfig } from "vitest/config";

/** Files that are drills from end to end: minutes each, so they run where they are asked for. */
const drills = process.env.K8TS_DRILLS === "all" ? [] : ["test/**/*.drill.test.ts"];

export default defineConfig({
  test: {
    globalSetup: ["test/setup/bundle.ts"],
    pool: "forks",
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: "src",
          include: ["src/**/*.test.ts"],
          // Modules have no state, so files share a process and what it has imported: half the processor time.
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: "whole", include: ["test/**/*.test.ts"], exclude: [...configDefaults.exclude, ...drills] },
      },
    ],
    setupFiles: ["test/setup/freeze-lists.ts"],
    environment: "node",
    // Nothing that a test starts leaves this machine, unless the test says so.
    env: { K8TS_OUTSIDE: "off" },
    // How long something may hang, not how long it may take: machines differ.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
