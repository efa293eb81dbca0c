/**
 * Reports when a streamed answer has begun and when it has ended, to release what is held for it.
 *
 * 1. `ended` is called once, also for an answer that is never streamed because its client has disconnected.
 */
import { nextTurn } from "#base";
import type { StreamResponse } from "./exchange.ts";

export interface StreamLife {
  /** Its first synchronous writes are done. */
  began?(): void;
  /** `failure`: the error of the stream. */
  ended(failure?: unknown): void;
}

export function withLife(response: StreamResponse, life: StreamLife): StreamResponse {
  let opened = false;
  const live = async (running: Promise<void>): Promise<void> => {
    opened = true;
    life.began?.();
    try {
      await running;
    } catch (error) {
      life.ended(error);
      throw error;
    }
    life.ended();
  };
  // An answer is streamed in the turn in which it is returned, or never.
  void nextTurn().then(() => {
    if (!opened) life.ended();
  });
  const { upgrade } = response;
  return {
    ...response,
    stream: (sink) => live(response.stream(sink)),
    ...(upgrade !== undefined && { upgrade: (connection) => live(upgrade.call(response, connection)) }),
  };
}
