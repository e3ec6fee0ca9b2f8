import { createPrivateKey } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { generate } from "selfsigned";
import { describe, expect, it } from "vitest";
import { temporaryDir } from "../support/temporary-dir.ts";
import { connectMqttJs, startBroker } from "./harness.ts";

describe("TLS files", () => {
  const made = () => generate([{ name: "commonName", value: "localhost" }], { keyType: "ec" });

  async function files() {
    const folder = temporaryDir();
    const [own, other] = await Promise.all([made(), made()]);
    const put = (name: string, text: string) => {
      const file = path.join(folder, name);
      writeFileSync(file, text);
      return file;
    };
    return {
      cert: put("cert.pem", own.cert),
      key: put("key.pem", own.private),
      otherKey: put("other-key.pem", other.private),
      text: put("text.pem", "hello"),
      damaged: put("damaged.pem", `${own.cert.trimEnd()}\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n`),
      locked: put(
        "locked.pem",
        createPrivateKey(own.private).export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" }) as string,
      ),
      none: path.join(folder, "none.pem"),
    };
  }
  type Files = Awaited<ReturnType<typeof files>>;

  it.each<[(files: Files) => Record<string, unknown>, field: string, message: (files: Files) => string, env: string]>([
    [
      ({ none, key }) => ({ certificateFile: none, keyFile: key }),
      "certificateFile",
      ({ none }) => `Certificate: ${none} cannot be read`,
      "MQTT_CERTIFICATE_FILE",
    ],
    [
      ({ cert, none }) => ({ certificateFile: cert, keyFile: none }),
      "keyFile",
      ({ none }) => `Key: ${none} cannot be read`,
      "MQTT_KEY_FILE",
    ],
    [({ cert }) => ({ certificateFile: cert }), "keyFile", () => "Key is missing", "MQTT_KEY_FILE"],
    [({ key }) => ({ keyFile: key }), "certificateFile", () => "Certificate is missing", "MQTT_CERTIFICATE_FILE"],
    [
      ({ text, key }) => ({ certificateFile: text, keyFile: key }),
      "certificateFile",
      ({ text }) => `Certificate: ${text} contains no certificate`,
      "MQTT_CERTIFICATE_FILE",
    ],
    [
      ({ key }) => ({ certificateFile: key, keyFile: key }),
      "certificateFile",
      ({ key }) => `Certificate: ${key} contains no certificate`,
      "MQTT_CERTIFICATE_FILE",
    ],
    [
      ({ cert }) => ({ certificateFile: cert, keyFile: cert }),
      "keyFile",
      ({ cert }) => `Key: ${cert} contains no private key`,
      "MQTT_KEY_FILE",
    ],
    [
      ({ cert, locked }) => ({ certificateFile: cert, keyFile: locked }),
      "keyFile",
      ({ locked }) => `Key: ${locked} is locked with a password`,
      "MQTT_KEY_FILE",
    ],
    [
      ({ cert, otherKey }) => ({ certificateFile: cert, keyFile: otherKey }),
      "keyFile",
      ({ otherKey }) => `Key: ${otherKey} is not the key of the certificate`,
      "MQTT_KEY_FILE",
    ],
    [
      ({ none }) => ({ clientCaFile: none }),
      "clientCaFile",
      ({ none }) => `Client authority: ${none} cannot be read`,
      "MQTT_CLIENT_CA_FILE",
    ],
    [
      ({ text }) => ({ clientCaFile: text }),
      "clientCaFile",
      ({ text }) => `Client authority: ${text} contains no certificate`,
      "MQTT_CLIENT_CA_FILE",
    ],
    [
      ({ damaged }) => ({ clientCaFile: damaged }),
      "clientCaFile",
      ({ damaged }) => `Client authority: ${damaged} contains a damaged certificate: number 2`,
      "MQTT_CLIENT_CA_FILE",
    ],
    [
      () => ({ requireClientCertificate: true }),
      "clientCaFile",
      () => "Client authority is missing where client certificates are required",
      "MQTT_CLIENT_CA_FILE",
    ],
  ])("[MQTT-117] names the file, its field and its variable: case %#", async (config, field, message, env) => {
    const given = await files();
    await expect(startBroker({ tls: true, ...config(given) })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: message(given),
      hint: expect.stringContaining(env),
      field: { name: field },
    });
  });

  it("[MQTT-117] matching files are used", async () => {
    const { cert, key } = await files();
    const broker = await startBroker({ tls: true, certificateFile: cert, keyFile: key, clientCaFile: cert });
    await connectMqttJs(broker.urls.MQTTS ?? "", { rejectUnauthorized: false });
    expect(await broker.act("tls.certificate", {})).toMatchObject({ file: cert, isSelfMade: false });
  });
});
