/**
 * The ledger's first schema: streams and their facts, events and waits, documents, blobs, workers.
 *
 * SQLite keys are integers in insertion order with one unique index on (stream, seq): a clustered key is 2.3 times slower to append.
 * Postgres keys are the uuids themselves, so that one statement can create a stream and its facts.
 * An event's correlation is null when it is its own id; ids are stored without their prefix.
 */
import type { Migration } from './migration.ts'

export const ledgerTables: Migration = {
  version: 1,
  name: 'ledger',
  breaking: true,
  sqlite: `
    create table worker (
      key integer primary key,
      id text not null unique,
      beat_at integer not null
    );
    create table stream (
      key integer primary key,
      id blob not null,
      kind integer not null,
      tenant text not null,
      handler text not null,
      system_hash text not null,
      session blob,
      parent blob,
      event integer,
      base integer not null,
      version integer not null,
      epoch integer not null,
      signal integer not null,
      head_hash text not null,
      status text not null,
      wake_at integer,
      lease integer,
      recoveries integer not null,
      created_at integer not null
    );
    create unique index stream_id on stream (id);
    create unique index stream_event on stream (event, handler) where event is not null;
    create index stream_parent on stream (parent) where parent is not null;
    create index stream_due on stream (wake_at, key) where wake_at is not null and lease is null;
    create index stream_lease on stream (lease) where lease is not null;
    create table fact (
      stream integer not null,
      seq integer not null,
      append_id text not null,
      epoch integer not null,
      type text not null,
      recorded_at integer not null,
      body text not null,
      hash text not null
    );
    create unique index fact_address on fact (stream, seq);
    create table event (
      seq integer primary key autoincrement,
      tenant text not null,
      source text not null,
      id text not null,
      type text not null,
      subject text,
      time integer not null,
      correlation text,
      causation text,
      traceparent text,
      hops integer not null,
      chain text not null,
      data text not null,
      data_hash text not null,
      append_id text not null
    );
    create unique index event_identity on event (id, source, tenant);
    create index event_type on event (type, tenant);
    create table suppressed (
      event integer not null,
      trigger_name text not null,
      reason text not null,
      detail text not null,
      primary key (event, trigger_name)
    ) without rowid;
    create table wait (
      stream integer not null,
      step text not null,
      type text not null,
      path text not null,
      value text not null
    );
    create index wait_match on wait (type, path, value);
    create index wait_stream on wait (stream);
    create table wait_path (
      type text not null,
      path text not null,
      primary key (type, path)
    ) without rowid;
    create table document (
      tenant text not null,
      table_name text not null,
      key text not null,
      body text not null,
      primary key (tenant, table_name, key)
    ) without rowid;
    create table blob (
      hash text not null unique,
      body text not null
    );
  `,
  postgres: `
    create table worker (
      id text primary key,
      beat_at bigint not null
    );
    create table stream (
      id uuid primary key,
      kind smallint not null,
      tenant text not null,
      handler text not null,
      system_hash text not null,
      session uuid,
      parent uuid,
      event bigint,
      base bigint not null,
      version bigint not null,
      epoch bigint not null,
      signal bigint not null,
      head_hash text not null,
      status text not null,
      wake_at bigint,
      lease text,
      recoveries integer not null,
      created_at bigint not null
    ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 50);
    create unique index stream_event on stream (event, handler) where event is not null;
    create index stream_parent on stream (parent) where parent is not null;
    create index stream_due on stream (wake_at, id) where wake_at is not null and lease is null;
    create index stream_lease on stream (lease) where lease is not null;
    create table fact (
      stream uuid not null,
      seq bigint not null,
      append_id text not null,
      epoch bigint not null,
      type text not null,
      recorded_at bigint not null,
      body text not null,
      hash text not null,
      primary key (stream, seq)
    );
    create table event (
      seq bigint generated always as identity primary key,
      tenant text not null,
      source text not null,
      id text not null,
      type text not null,
      subject text,
      time bigint not null,
      correlation text,
      causation text,
      traceparent text,
      hops integer not null,
      chain text not null,
      data text not null,
      data_hash text not null,
      append_id text not null
    );
    create unique index event_identity on event (id, source, tenant);
    create index event_type on event (type, tenant, seq);
    create table suppressed (
      event bigint not null,
      trigger_name text not null,
      reason text not null,
      detail text not null,
      primary key (event, trigger_name)
    );
    create table wait (
      stream uuid not null,
      step text not null,
      type text not null,
      path text not null,
      value text not null
    );
    create index wait_match on wait (type, path, value);
    create index wait_stream on wait (stream);
    create table wait_path (
      type text not null,
      path text not null,
      primary key (type, path)
    );
    create table document (
      tenant text not null,
      table_name text not null,
      key text not null,
      body text not null,
      primary key (tenant, table_name, key)
    );
    create table blob (
      hash text primary key,
      body text not null
    );
    create function trihand_now() returns bigint language sql stable as
      $$ select coalesce(nullif(current_setting('trihand.now_ms', true), '')::bigint, (extract(epoch from now()) * 1000)::bigint) $$;
  `,
}
