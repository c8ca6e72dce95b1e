/**
 * Tasks as the inbox shows them. An open task has a row in `task_address` for each inbox it is in, and one under `*` for all inboxes
 * together. So a page of any inbox is read from one index in display order, and counted from another, however many tasks wait.
 */
import type { Migration } from './migration.ts'

const ADDRESS = `
    create index task_inbox on task_address (tenant, address, task);
    create index task_deadline on task_address (tenant, address, deadline, task);
    create index task_status on task_address (tenant, address, status);
    create index task_run on task (run);
`

export const tasks: Migration = {
  version: 5,
  name: 'tasks',
  breaking: true,
  sqlite: `
    create table task (
      id blob primary key,
      tenant text not null,
      run blob not null,
      step text not null,
      status text not null,
      is_open integer not null,
      type text not null,
      title text not null,
      addresses text not null,
      claimed_by text,
      priority integer not null,
      deadline integer,
      created_at integer not null,
      updated_at integer not null,
      put_off text not null,
      summary text not null
    ) without rowid;
    create index task_closed on task (tenant, id) where is_open = 0;
    create table task_address (
      task blob not null,
      address text not null,
      tenant text not null,
      status text not null,
      deadline integer not null,
      primary key (task, address)
    ) without rowid;
    ${ADDRESS}
  `,
  postgres: `
    create table task (
      id uuid primary key,
      tenant text not null,
      run uuid not null,
      step text not null,
      status text not null,
      is_open boolean not null,
      type text not null,
      title text not null,
      addresses text not null,
      claimed_by text,
      priority integer not null,
      deadline bigint,
      created_at bigint not null,
      updated_at bigint not null,
      put_off text not null,
      summary text not null
    );
    create index task_closed on task (tenant, id) where not is_open;
    create table task_address (
      task uuid not null,
      address text not null,
      tenant text not null,
      status text not null,
      deadline bigint not null,
      primary key (task, address)
    );
    ${ADDRESS}
  `,
}
