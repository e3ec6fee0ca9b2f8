import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import net from "node:net";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openAuthority } from "../../servers/core/certificates/certificate-authority.ts";
import { checkConfiguredFile, readConfiguredFile } from "../../servers/core/config/configured-file.ts";
import { openRegularFileSync, readRegularFile } from "../../servers/core/files/regular-file.ts";
import { notDatabase, openSqliteFile } from "../../servers/core/files/sqlite-file.ts";
import { openDashboardSecret } from "../../servers/dashboard-secret.ts";
import { openRepliesFile } from "../../servers/grpc/replies/replies-file.ts";
import { openByteSource } from "../../servers/rtsp/media/mp4/byte-source.ts";
import { openSettings } from "../../servers/supervisor/settings-file.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

const notRegular = expect.objectContaining({ message: "it is not a regular file" });

function namedPipe(folder: string, name: string): string {
  const file = path.join(folder, name);
  execFileSync("mkfifo", [file]);
  return file;
}

describe.skipIf(process.platform === "win32")(
  "[BL-472] what is no regular file, such as a named pipe, is refused and not waited for",
  () => {
    it("[BL-472] the settings file", async () => {
      const folder = temporaryDir();
      const file = namedPipe(folder, "settings.json");
      await expect(openSettings(folder, () => {})).rejects.toMatchObject({
        code: "SETTINGS_UNREADABLE",
        message: `Cannot read ${file}: it is not a regular file`,
        hint: "Move it away, or choose another --data-dir.",
      });
    });

    it("[BL-472] a file that a field of the configuration names", async () => {
      const file = namedPipe(temporaryDir(), "pipe");
      const configured = { path: file, field: "certificateFile", title: "Certificate", env: "CERTIFICATE" };
      const refusal = { code: "CONFIG_INVALID", message: `Certificate: ${file} is not a regular file` };
      await expect(readConfiguredFile(configured)).rejects.toMatchObject(refusal);
      await expect(checkConfiguredFile(configured)).rejects.toMatchObject(refusal);
      await expect(readConfiguredFile({ ...configured, path: "/dev/zero" })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
      // As before for one that is missing.
      await expect(checkConfiguredFile({ ...configured, path: `${file}.none` })).rejects.toMatchObject({
        message: `Certificate: ${file}.none cannot be read`,
      });
    });

    it("[BL-472] a database, a file of media, one of reply rules, and those of the data folder", async () => {
      const folder = temporaryDir();
      const file = namedPipe(folder, "pipe");
      expect(notDatabase(file)).toBeUndefined();
      await expect(openSqliteFile(file, { synchronous: "NORMAL", prepare: () => {} })).rejects.toMatchObject({
        code: "STORE_UNREACHABLE",
        message: `${file} cannot be used: it is not a regular file`,
      });
      expect(() => openByteSource(file)).toThrow("it is not a regular file");
      const problems: string[] = [];
      await openRepliesFile({
        file,
        mostBytes: 100,
        onText: () => {},
        onProblem: (problem) => void problems.push(problem),
        onStop: (release) => onTestFinished(async () => await release()),
      });
      expect(problems).toEqual(["it is not a regular file"]);
      namedPipe(folder, "authority-with-private-key.pem");
      await expect(openAuthority(folder)).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
      namedPipe(folder, "dashboard-secret");
      expect(await openDashboardSecret(folder, () => {})).toMatch(/^[\w-]{43}$/);
    });

    it("[BL-472] a socket and a folder; a link to a file is read", async () => {
      const folder = temporaryDir();
      const socket = path.join(folder, "socket");
      const server = net.createServer().listen(socket);
      onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
      await expect(readRegularFile(socket)).rejects.toEqual(notRegular);
      mkdirSync(path.join(folder, "folder"));
      await expect(readRegularFile(path.join(folder, "folder"))).rejects.toEqual(notRegular);
      expect(() => openRegularFileSync(path.join(folder, "folder"))).toThrow("it is not a regular file");
      writeFileSync(path.join(folder, "file"), "text");
      execFileSync("ln", ["-s", "file", path.join(folder, "link")]);
      expect(await readRegularFile(path.join(folder, "link"))).toBe("text");
    });
  },
);
