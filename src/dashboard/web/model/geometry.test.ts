import { describe, expect, it } from "vitest";
import { columnOf, geometry, isList, spanOf } from "./geometry.ts";

describe("where things are in a diagram", () => {
  it.each([
    [3, 1000, 260, 1000],
    [6, 1000, 155, 1000],
    [12, 1000, 104, 1314],
    [12, 390, 84, 1054],
  ])("%d participants in %d pixels have columns of %d", (participants, room, column, width) => {
    expect(geometry(participants, room)).toMatchObject({ column, width });
  });

  it("arrows go from middle to middle, and words where there is room", () => {
    const shape = geometry(4, 666);
    expect(shape.column).toBe(150);
    expect(columnOf(shape, 0)).toBe(141);
    expect(spanOf(shape, 0, 2)).toEqual({
      left: 141,
      width: 300,
      isLeftward: false,
      label: { left: "149px", maxWidth: "517px" },
    });
    expect(spanOf(shape, 3, 2)).toMatchObject({ left: 441, width: 150, isLeftward: true, label: { right: "83px" } });
  });

  it.each([
    ["in sight", 1, 2, { left: "230px" }],
    ["half in sight", 2, 9, { left: "334px" }],
    ["to the right of it", 9, 10, { right: "822px", maxWidth: "418px" }],
    ["to the left of it", 0, 0, undefined],
  ])("words of what is %s can be read", (_, from, to, want) => {
    const shape = geometry(12, 500);
    const label = spanOf({ ...shape, column: 104, margin: 66, width: 1314 }, from, to, { left: 0, width: 500 }).label;
    expect(label).toMatchObject(want ?? { left: "126px" });
    expect(spanOf(shape, 0, 0, { left: 400, width: 500 }).label).toMatchObject({ left: "446px" });
  });
});

it.each([
  [26, 390, true],
  [3, 390, false],
  [26, 1000, false],
])("%i participants in %i pixels are a list: %s", (participants, room, want) => {
  expect(isList(participants, room)).toBe(want);
});
