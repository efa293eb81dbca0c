import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realClock, silentLogger } from "#base";
import { type TestSigner, testSigner } from "../../apiserver/authn/testing/external-signer.ts";
import type { AuthenticationFlags } from "./authentication.ts";
import { withExternalSigner } from "./external-signer.ts";

let remote: TestSigner;
let starting: AsyncDisposableStack;
beforeEach(async () => {
  remote = await testSigner();
  starting = new AsyncDisposableStack();
});
afterEach(async () => {
  await starting.disposeAsync();
  await remote.close();
});

const read = (flags: AuthenticationFlags, maxExpirationSeconds?: number) =>
  withExternalSigner(
    { serviceAccounts: maxExpirationSeconds === undefined ? {} : { maxExpirationSeconds } },
    { serviceAccountSigningEndpoint: remote.socket, ...flags },
    { clock: realClock(), log: silentLogger },
    starting,
  );

describe("--service-account-signing-endpoint", () => {
  it.each([
    { asked: undefined, want: 7200 },
    { asked: 3600, want: 3600 },
    { asked: 7200, want: 7200 },
  ])("limits the life of tokens: $asked becomes $want", async ({ asked, want }) => {
    const { serviceAccounts } = await read({}, asked);
    expect(serviceAccounts).toMatchObject({ maxExpirationSeconds: want, signer: { maxExpirationSeconds: 7200 } });
  });

  it("is refused beside keys, with longer tokens, and where it signs only short ones", async () => {
    await expect(read({ serviceAccountSigningKeyFile: "sa.key" })).rejects.toThrow(
      "service-account-signing-key-file and service-account-signing-endpoint are mutually exclusive and cannot be set at the same time",
    );
    await expect(read({ serviceAccountKeyFile: ["sa.pub"] })).rejects.toThrow("cannot set mutually exclusive flags");
    await expect(read({}, 10_800)).rejects.toThrow(
      "service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: 3h0m0s > 2h0m0s",
    );
    remote.maxTokenExpirationSeconds = 599;
    await expect(read({})).rejects.toThrow(
      "max token life supported by external-jwt-signer (599s) is less than acceptable (min 600s)",
    );
  });
});
