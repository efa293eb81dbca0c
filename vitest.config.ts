import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/setup/bundle.ts"],
    setupFiles: ["test/setup/freeze-lists.ts"],
    environment: "node",
    // Nothing that a test starts leaves this machine, unless the test says so.
    env: { K8TS_OUTSIDE: "off" },
    pool: "forks",
    maxWorkers: 2,
    // How long something may hang, not how long it may take: machines differ.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
