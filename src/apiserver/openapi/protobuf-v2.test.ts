import { describe, expect, it } from "vitest";
import { protobufV2 } from "./protobuf-v2.ts";

type Message = [number: number, value: string | number | Message][];

/** Reads by shape: the numbers in `shape` are fields that hold messages. */
interface Shape {
  readonly [number: number]: Shape;
}

function read(bytes: Buffer, shape: Shape): Message {
  const found: Message = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const number = tag >>> 3;
    if ((tag & 7) === 0) found.push([number, varint()]);
    else if ((tag & 7) === 1) {
      found.push([number, bytes.readDoubleLE(at)]);
      at += 8;
    } else {
      const length = varint();
      const inner = bytes.subarray(at, at + length);
      const deeper = shape[number];
      found.push([number, deeper === undefined ? inner.toString() : read(inner, deeper)]);
      at += length;
    }
  }
  return found;
}

const ANY: Shape = { 2: {} };
const SCHEMA: Shape = { 20: {}, 21: { 1: {} }, 22: {}, 23: { 1: { 22: {} } }, 25: { 1: { 2: { 22: {} } } }, 31: ANY };

describe("a document in protobuf", () => {
  it("has its schemas", () => {
    const bytes = protobufV2({
      definitions: {
        Gadget: {
          type: "object",
          required: ["a", "b"],
          maximum: 1.5,
          maxLength: 300,
          unknown: 1,
          properties: { a: { type: "string" } },
          "x-kubernetes-list-map-keys": ["a"],
        },
        List: { items: { type: "integer" }, enum: ["ä"], additionalProperties: { $ref: "#/x" } },
      },
    });
    expect(read(bytes, { 9: { 1: { 2: SCHEMA } } })).toEqual([
      [
        9,
        [
          [
            1,
            [
              [1, "Gadget"],
              [
                2,
                [
                  [22, [[1, "object"]]],
                  [19, "a"],
                  [19, "b"],
                  [7, 1.5],
                  [11, 300],
                  [
                    25,
                    [
                      [
                        1,
                        [
                          [1, "a"],
                          [2, [[22, [[1, "string"]]]]],
                        ],
                      ],
                    ],
                  ],
                  [
                    31,
                    [
                      [1, "x-kubernetes-list-map-keys"],
                      [2, [[2, '["a"]']]],
                    ],
                  ],
                ],
              ],
            ],
          ],
          [
            1,
            [
              [1, "List"],
              [
                2,
                [
                  [23, [[1, [[22, [[1, "integer"]]]]]]],
                  [20, [[2, '"ä"']]],
                  [21, [[1, [[1, "#/x"]]]]],
                ],
              ],
            ],
          ],
        ],
      ],
    ]);
  });

  it("has its operations, with parameters in the path, the query and the body, or shared", () => {
    const bytes = protobufV2({
      paths: {
        "/x": {
          parameters: [
            { in: "path", name: "name", type: "string", required: true },
            { in: "query", name: "limit", type: "integer", uniqueItems: true },
            { in: "body", name: "body", schema: { $ref: "#/y" } },
            { $ref: "#/parameters/z" },
          ],
          put: { operationId: "replaceX", responses: { 200: { description: "OK" } }, "x-kubernetes-action": "put" },
        },
      },
    });
    const item = { 1: { 1: { 5: {} }, 2: { 3: {}, 4: {} } }, 2: {} };
    const operation = { 9: { 1: { 2: { 1: {} } } }, 13: ANY };
    expect(read(bytes, { 8: { 2: { 2: { 3: operation, 9: item } } } })).toEqual([
      [
        8,
        [
          [
            2,
            [
              [1, "/x"],
              [
                2,
                [
                  [
                    9,
                    [
                      [
                        1,
                        [
                          [
                            2,
                            [
                              [
                                4,
                                [
                                  [2, "path"],
                                  [4, "name"],
                                  [5, "string"],
                                  [1, 1],
                                ],
                              ],
                            ],
                          ],
                        ],
                      ],
                    ],
                  ],
                  [
                    9,
                    [
                      [
                        1,
                        [
                          [
                            2,
                            [
                              [
                                3,
                                [
                                  [2, "query"],
                                  [4, "limit"],
                                  [6, "integer"],
                                  [20, 1],
                                ],
                              ],
                            ],
                          ],
                        ],
                      ],
                    ],
                  ],
                  [
                    9,
                    [
                      [
                        1,
                        [
                          [
                            1,
                            [
                              [3, "body"],
                              [2, "body"],
                              [5, [[1, "#/y"]]],
                            ],
                          ],
                        ],
                      ],
                    ],
                  ],
                  [9, [[2, [[1, "#/parameters/z"]]]]],
                  [
                    3,
                    [
                      [5, "replaceX"],
                      [
                        9,
                        [
                          [
                            1,
                            [
                              [1, "200"],
                              [2, [[1, [[1, "OK"]]]]],
                            ],
                          ],
                        ],
                      ],
                      [
                        13,
                        [
                          [1, "x-kubernetes-action"],
                          [2, [[2, '"put"']]],
                        ],
                      ],
                    ],
                  ],
                ],
              ],
            ],
          ],
        ],
      ],
    ]);
  });
});
