type ExampleCommand = { readonly comment: string; readonly line: string };

/** Two examples for each command. The name of every command in the command table is a key of this object. */
export const COMMAND_EXAMPLES = {
  demo: [
    { comment: 'Watch a plan, a sync, a promotion, and a rollback', line: 'promptsync demo' },
    { comment: 'Keep the demo repository so that you can explore it', line: 'promptsync demo --keep' },
  ],
  init: [
    { comment: 'Try promptsync without a hosted service', line: 'promptsync init --embedded' },
    {
      comment: 'Set up a workspace for a service, and import your first prompt',
      line: 'promptsync init --url https://prompts.example.com --id prm_greeting',
    },
  ],
  import: [
    { comment: 'Create prompt files for two prompts', line: 'promptsync import prm_greeting prm_refund' },
    {
      comment: 'List the files that a bulk import would create',
      line: 'promptsync import --from ids.txt --dry-run',
    },
  ],
  new: [
    { comment: 'Create the file for a new prompt', line: 'promptsync new support/greeting' },
    {
      comment: 'Create a chat prompt that is live only in staging',
      line: 'promptsync new support/agent --type chat --environment staging',
    },
  ],
  doctor: [
    { comment: 'Check the setup before the first sync', line: 'promptsync doctor' },
    {
      comment: 'Also test how a service behaves, with a prompt that no application reads',
      line: 'promptsync doctor --write --prompt prm_scratch',
    },
  ],
  schema: [
    { comment: 'Print the schema of the JSON report', line: 'promptsync schema report' },
    {
      comment: 'Write the schema of promptsync.yaml to a file',
      line: 'promptsync schema config > promptsync.schema.json',
    },
  ],
  completion: [
    { comment: 'Turn on completion in this bash session', line: 'source <(promptsync completion bash)' },
    {
      comment: 'Install completion for fish',
      line: 'promptsync completion fish > ~/.config/fish/completions/promptsync.fish',
    },
  ],
  validate: [
    { comment: 'Check the configuration and all prompt files', line: 'promptsync validate' },
    { comment: 'Write the problems as a JUnit report for CI', line: 'promptsync validate --output validate.xml' },
  ],
  plan: [
    { comment: 'Show the changes to all prompts in a folder', line: 'promptsync plan prompts/support' },
    {
      comment: 'Write the plan to a JSON file and to a web page',
      line: 'promptsync plan --output plan.json --output plan.html',
    },
  ],
  sync: [
    { comment: 'Show the changes, ask for confirmation, and apply them', line: 'promptsync sync' },
    { comment: 'Apply the changes to one prompt without asking', line: 'promptsync sync support/greeting --yes' },
  ],
  status: [
    { comment: 'Compare every environment of every prompt with its pin', line: 'promptsync status' },
    {
      comment: "List a team's prompts that have no prompt file",
      line: "promptsync status --orphans 'support/*'",
    },
  ],
  promote: [
    {
      comment: 'Pin production to the version that the previous environment serves',
      line: 'promptsync promote support/greeting --to production',
    },
    {
      comment: 'Promote all prompts, and commit the pins to a new branch',
      line: 'promptsync promote --all --to production --branch go-live',
    },
  ],
  rollback: [
    {
      comment: 'Pin production to the version before the active one',
      line: 'promptsync rollback support/greeting -e production',
    },
    {
      comment: 'In an incident, restore the previous version in production at once',
      line: 'promptsync rollback support/greeting -e production --now',
    },
  ],
  pull: [
    { comment: 'Copy the changes from all environments into the prompt files', line: 'promptsync pull' },
    {
      comment: 'Copy the text in production to the file, and commit the file',
      line: 'promptsync pull support/greeting -e production --theirs --commit',
    },
  ],
  history: [
    { comment: 'Show the versions of a prompt', line: 'promptsync history support/greeting' },
    {
      comment: 'Show who pinned the version that production serves',
      line: 'promptsync history support/greeting -e production',
    },
  ],
  bundle: [
    {
      comment: 'Write the prompts of production as JSON and as TypeScript',
      line: 'promptsync bundle -e production -o prompts.json -o src/prompts.ts',
    },
    {
      comment: 'Check in CI that the file is up to date',
      line: 'promptsync bundle -e production -o prompts.json --check',
    },
  ],
  show: [
    { comment: 'Print the report of an earlier run', line: 'promptsync show plan.json' },
    { comment: 'Convert a report to a web page', line: 'promptsync show plan.json --output plan.html' },
  ],
  comment: [
    { comment: 'Publish a plan on the merge request', line: 'promptsync comment plan.json' },
    {
      comment: 'Publish the plan for a configuration in a subfolder',
      line: 'promptsync comment plan.json --config team-a/promptsync.yaml',
    },
  ],
  serve: [
    { comment: 'Run a service that has the prompts of this workspace', line: 'promptsync serve --seed' },
    {
      comment: 'Register the prompts of another workspace, and use a free port',
      line: 'promptsync serve --seed ../team-prompts --port 0',
    },
  ],
} as const satisfies Readonly<Record<string, readonly [ExampleCommand, ExampleCommand]>>;

export type CommandName = keyof typeof COMMAND_EXAMPLES;

/** Formats a command's examples for its help text. In the help text, indented lines are code. */
export function formatExamples(name: CommandName): string {
  return ['Examples:', ...COMMAND_EXAMPLES[name].map(({ comment, line }) => `  # ${comment}\n  ${line}`)].join('\n');
}
