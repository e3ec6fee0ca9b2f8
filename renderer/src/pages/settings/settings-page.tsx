import { About } from "./about.tsx";
import { Appearance } from "./appearance.tsx";
import { Certificates } from "./certificates.tsx";
import { ProgramSettings } from "./program-settings.tsx";
import styles from "./settings-page.module.css";
import { Shortcuts } from "./shortcuts.tsx";

export function SettingsPage() {
  return (
    <div className={styles.page}>
      <h1 className={styles.title}>Settings</h1>
      <div className={styles.columns}>
        <div>
          <Appearance />
          <ProgramSettings />
          <Certificates />
        </div>
        <div>
          <About />
          <Shortcuts />
        </div>
      </div>
    </div>
  );
}
