import path from "node:path";
import type { TlsOptions } from "node:tls";
import type { MqttCertificate } from "../../contract/services/mqtt.ts";
import { configuredFile, fileProblem } from "../core/config/configured-file.ts";
import { readAuthorities, readTlsMaterial, selfMadeTlsMaterial } from "../core/net/tls-material.ts";
import { type MqttConfig, mqttConfig } from "./mqtt-config.ts";

export interface Tls {
  readonly options: TlsOptions;
  readonly certificate: MqttCertificate;
}

/** What the TLS listeners show their clients, and ask of them. Throws CONFIG_INVALID. */
export async function tlsOptions(config: MqttConfig, folder: string): Promise<Tls> {
  const file = (name: "certificateFile" | "keyFile" | "clientCaFile") => configuredFile(mqttConfig.shape, config, name);
  const own = config.certificateFile !== "" || config.keyFile !== "";
  const material = own ? await readTlsMaterial(file("certificateFile"), file("keyFile")) : await selfMadeTlsMaterial(folder);
  const authorities = file("clientCaFile");
  if (config.requireClientCertificate && authorities.path === "") {
    const hint = `Name the PEM file of the authority that signs client certificates in ${authorities.env}, or require none.`;
    throw fileProblem(authorities, "is missing where client certificates are required", hint);
  }
  const asksClients = authorities.path !== "" && {
    ca: await readAuthorities(authorities),
    requestCert: true,
    rejectUnauthorized: config.requireClientCertificate,
  };
  return {
    options: { ...material, ...asksClients },
    certificate: {
      file: own ? path.resolve(config.certificateFile) : path.join(folder, "certificate.pem"),
      pem: material.cert,
      isSelfMade: !own,
    },
  };
}
