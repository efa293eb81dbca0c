/**
 * A transport that can be replaced while it is used: requests after a renewed certificate use the new one; watches
 * restart on it.
 */
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
