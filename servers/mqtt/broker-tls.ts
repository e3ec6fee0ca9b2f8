import path from "node:path";
import type { MqttCertificate } from "../../contract/services/mqtt.ts";
import { readAuthorities, readTlsMaterial } from "../core/certificates/configured-certificate.ts";
import type { InstallationCertificates } from "../core/certificates/installation-certificates.ts";
import { configuredFile, fileProblem } from "../core/config/configured-file.ts";
import type { TlsSource } from "../core/net/tls-listener.ts";
import { type MqttConfig, mqttConfig } from "./mqtt-config.ts";

export interface BrokerTls {
  readonly source: TlsSource;
  readonly certificate: MqttCertificate;
}

/**
 * Certificate and client verification of the TLS listeners: the configured certificate, or the one of this
 * installation. Throws CONFIG_INVALID.
 */
export async function brokerTls(config: MqttConfig, certificates: () => Promise<InstallationCertificates>): Promise<BrokerTls> {
  const file = (name: "certificateFile" | "keyFile" | "clientCaFile") => configuredFile(mqttConfig.shape, config, name);
  const authorities = file("clientCaFile");
  if (config.requireClientCertificate && authorities.path === "") {
    const hint = `Name the PEM file of the authority that signs client certificates in ${authorities.env}, or require none.`;
    throw fileProblem(authorities, "is missing where client certificates are required", hint);
  }
  const clientOptions = authorities.path !== "" && {
    ca: await readAuthorities(authorities),
    requestCert: true,
    rejectUnauthorized: config.requireClientCertificate,
  };
  if (config.certificateFile !== "" || config.keyFile !== "") {
    const material = await readTlsMaterial(file("certificateFile"), file("keyFile"));
    return {
      source: { options: { ...material, ...clientOptions }, onChange: () => () => {} },
      certificate: { file: path.resolve(config.certificateFile), pem: material.cert, isSelfMade: false },
    };
  }
  const own = await certificates();
  const { file: authorityFile, cert } = own.authority;
  return {
    source: {
      get options() {
        return { ...own.options, ...clientOptions };
      },
      onChange: own.onChange,
    },
    certificate: { file: authorityFile, pem: cert, isSelfMade: true },
  };
}
