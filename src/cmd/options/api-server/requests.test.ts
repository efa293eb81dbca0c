import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { requestOptions, requestsFrom } from "./requests.ts";
import { shutdownFrom, shutdownOptions } from "./shutdown.ts";

function configured(...args: readonly string[]) {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  for (const option of [...requestOptions(), ...shutdownOptions()]) command.addOption(option);
  command.parse(args, { from: "user" });
  return { ...requestsFrom(command.opts()), ...shutdownFrom(command.opts()) };
}

const HSTS = "--strict-transport-security-directives";
const CORS = "--cors-allowed-origins";

describe("flags about requests and the end of the server", () => {
  it.each([
    { args: [], want: { allowedOrigins: [], strictTransport: [], shutdown: {} } },
    { args: ["--request-timeout=90s"], want: { requestTimeoutMs: 90_000 } },
    { args: ["--min-request-timeout=300"], want: { minRequestTimeoutSeconds: 300 } },
    {
      args: [`${CORS}=//a\\.test$,^https://b\\.test:`],
      want: { allowedOrigins: ["//a\\.test$", "^https://b\\.test:"] },
    },
    {
      args: [`${HSTS}=max-age=1,includeSubDomains`, `${HSTS}=preload`],
      want: { strictTransport: ["max-age=1", "includeSubDomains", "preload"] },
    },
    { args: ["--external-hostname=api.test"], want: { externalHostname: "api.test" } },
    { args: ["--livez-grace-period=1m"], want: { livezGraceMs: 60_000 } },
    {
      args: [
        "--shutdown-delay-duration=70s",
        "--shutdown-send-retry-after",
        "--shutdown-watch-termination-grace-period=30s",
      ],
      want: { shutdown: { delayMs: 70_000, sendRetryAfter: true, watchGraceMs: 30_000 } },
    },
    {
      args: ["--shutdown-delay-duration=0s", "--shutdown-send-retry-after=false"],
      want: { shutdown: { delayMs: 0, sendRetryAfter: false } },
    },
  ])("$args", ({ args, want }) => expect(configured(...args)).toMatchObject(want));

  it.each([
    { args: ["--request-timeout=-1s"], problem: "--request-timeout can not be negative value" },
    { args: ["--request-timeout=0"], problem: "--request-timeout can not be 0" },
    { args: ["--request-timeout=1"], problem: "It must be a duration" },
    { args: ["--min-request-timeout=-1"], problem: "It must be a whole number" },
    { args: ["--livez-grace-period=-1s"], problem: "--livez-grace-period can not be a negative value" },
    { args: ["--shutdown-delay-duration=-1s"], problem: "--shutdown-delay-duration can not be negative value" },
    {
      args: ["--shutdown-watch-termination-grace-period=-1s"],
      problem: "shutdown-watch-termination-grace-period, if provided, can not be a negative value",
    },
    { args: [`${CORS}=a.test`], problem: "regular expression does not pin to start/end of host in the origin header" },
    {
      args: [`${CORS}=^(a$`],
      problem: "--cors-allowed-origins has an invalid regular expression: error parsing regexp",
    },
    { args: [`${CORS}=`], problem: "empty value in --cors-allowed-origins" },
    { args: [`${HSTS}=max-age`], problem: "allowed values: max-age=expireTime, includeSubDomains, preload." },
    { args: [`${HSTS}=`], problem: "empty value in strict-transport-security-directives" },
  ])("$args is refused", ({ args, problem }) => expect(() => configured(...args)).toThrow(problem));
});
