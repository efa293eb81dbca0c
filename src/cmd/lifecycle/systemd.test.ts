import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { dataDirAt } from "#cluster";
import { installUnit, ownSystemd, removeUnit, unitText } from "./systemd.ts";

const dir = dataDirAt("/home/me/.k8ts/dev", { K8TS_HOME: "/home/me/.k8ts" });

function systemd(fails?: string) {
  const folder = mkdtempSync(join(tmpdir(), "k8ts-systemd-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const calls: string[] = [];
  const systemctl = (...args: readonly string[]) => {
    calls.push(args.join(" "));
    return args[0] === fails ? "Access denied" : undefined;
  };
  return { isSystem: true, folder, systemctl, calls };
}

describe("a unit", () => {
  it("runs the same up, with what its environment says", () => {
    const command = [
      "/opt/my node",
      "/opt/k8ts.mjs",
      "up",
      "dev",
      "--node-mount=/a:/b",
      "--token-auth-file",
      "100%.csv",
    ];
    const env = { HOME: "/home/me", K8TS_HOME: "/home/me/.k8ts", SECRET: "x" };
    expect(unitText({ dir, command, env, cwd: "/work", isSystem: true })).toBe(`[Unit]
Description=k8ts cluster dev
Wants=network-online.target
After=network-online.target

[Service]
ExecStart="/opt/my node" /opt/k8ts.mjs up dev --node-mount=/a:/b --token-auth-file "100%%.csv"
WorkingDirectory=/work
Environment=HOME=/home/me
Environment=K8TS_HOME=/home/me/.k8ts
KillMode=process
Restart=on-failure
TimeoutStopSec=60

[Install]
WantedBy=multi-user.target
`);
  });

  it("is written, enabled and started; removing takes everything back", () => {
    const machine = systemd();
    const file = join(machine.folder, "k8ts-dev.service");
    expect(installUnit(dir, "text", machine)[0]).toBe(`Wrote ${file}.`);
    expect(readFileSync(file, "utf8")).toBe("text");
    expect(removeUnit(dir, machine)).toEqual(["Stopped and disabled k8ts-dev.service.", `Removed ${file}.`]);
    expect(existsSync(file)).toBe(false);
    expect(machine.calls).toEqual([
      "daemon-reload",
      "enable --now k8ts-dev.service",
      "disable --now k8ts-dev.service",
      "daemon-reload",
    ]);
    expect(removeUnit(dir, machine)).toEqual([`There is no ${file}.`]);
  });

  it("that systemd does not take is an error in its words", () => {
    expect(() => installUnit(dir, "text", systemd("enable"))).toThrow(
      "enable --now k8ts-dev.service failed: Access denied.",
    );
  });

  it.skipIf(existsSync("/run/systemd/system"))("is refused where systemd does not run (this machine has it)", () => {
    expect(() => ownSystemd()).toThrow("systemd does not run on this machine");
  });
});
