/** A transport that can be replaced under its users: after a new certificate, the next request takes the new one, and watches begin anew on it. */
import type { Transport } from "#client";

export interface ChangingTransport extends Transport {
  replace(next: Transport): Promise<void>;
}

export function changingTransport(first: Transport): ChangingTransport {
  let current = first;
  return {
    send: (request) => current.send(request),
    close: () => current.close(),
    async replace(next) {
      const before = current;
      current = next;
      await before.close();
    },
  };
}
