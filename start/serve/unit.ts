/** A unit of systemd that runs `darkroom serve`. Without MemoryDenyWriteExecute: V8 writes the code that it runs. */
export function unitOf(command: readonly string[], options: readonly string[], hasTls: boolean): string {
  const words = [...command, '--data', '/var/lib/darkroom', ...options].map((word) =>
    // systemd replaces % and $ in a command.
    /^[\w./:=,@-]+$/.test(word) ? word : JSON.stringify(word.replaceAll('%', '%%').replaceAll('$', '$$$$')),
  );
  return `[Unit]
Description=Darkroom
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=${words.join(' ')}
${hasTls ? 'ExecReload=kill -HUP $MAINPID\n' : ''}DynamicUser=yes
StateDirectory=darkroom
StateDirectoryMode=0700
UMask=0077
Restart=on-failure
RestartSec=5
TimeoutStopSec=20
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes

[Install]
WantedBy=multi-user.target
`;
}
