/** How to make a system or program trust a certificate authority. */
export interface TrustCommand {
  readonly command: string;
  /** The system or program it is for, if there are several. */
  readonly on?: string;
}

export interface TrustSteps {
  readonly name: string;
  /** To be typed into a terminal. */
  readonly commands?: readonly TrustCommand[];
  readonly steps?: readonly string[];
}

/** `file` is the certificate as PEM, where the commands are run. */
export function trustSteps(file: string): readonly TrustSteps[] {
  const quoted = /[^\w./:\\-]/.test(file) ? `"${file}"` : file;
  return [
    {
      name: "Linux",
      commands: [
        { on: "Debian, Ubuntu", command: `sudo cp ${quoted} /usr/local/share/ca-certificates/backlot.crt && sudo update-ca-certificates` },
        { on: "Fedora, Arch", command: `sudo trust anchor ${quoted}` },
        { on: "Chrome", command: `certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n Backlot -i ${quoted}` },
      ],
    },
    {
      name: "macOS",
      commands: [{ command: `sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain ${quoted}` }],
    },
    { name: "Windows", commands: [{ command: `certutil -addstore Root ${quoted}` }], steps: ["Run it as administrator."] },
    {
      name: "iOS",
      steps: [
        "Save the .cer file and send it to the device by AirDrop or mail.",
        "Open it, then install the profile in Settings, General, VPN & Device Management.",
        "Turn it on in Settings, General, About, Certificate Trust Settings.",
      ],
    },
    {
      name: "Android",
      steps: [
        "Save the .cer file and copy it to the device.",
        "Settings, Security, Encryption & credentials, Install a certificate, CA certificate.",
        "An app accepts it only if its network security configuration trusts user certificates, for example in debug-overrides.",
      ],
    },
    {
      name: "Firefox",
      steps: [
        "Settings, Privacy & Security, View Certificates, Authorities, Import.",
        "Choose the file and trust it to identify websites.",
      ],
    },
    {
      name: "Programs",
      commands: [
        { on: "curl", command: `curl --cacert ${quoted} https://localhost:PORT/` },
        { on: "Node", command: `NODE_EXTRA_CA_CERTS=${quoted} node app.js` },
        { on: "Python; with requests the variable is REQUESTS_CA_BUNDLE", command: `SSL_CERT_FILE=${quoted} python app.py` },
        { on: "Java", command: `keytool -importcert -cacerts -alias backlot -file ${quoted}` },
      ],
    },
  ];
}
