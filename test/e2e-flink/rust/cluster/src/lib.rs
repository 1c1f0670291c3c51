//! What the integration tests of fluss-rs ask of a cluster, answered by the server at WEIR_RUST_BOOTSTRAP, whose listener
//! for SASL is WEIR_RUST_SASL_BOOTSTRAP. The options that the tests would set are those it was started with.
use fluss::client::FlussConnection;
use fluss::config::Config;
use fluss::error::Result;
use std::collections::HashMap;
use std::path::PathBuf;

pub struct FlussTestingClusterBuilder {
    users: Vec<(String, String)>,
}

impl FlussTestingClusterBuilder {
    pub fn new_with_cluster_conf(_name: impl Into<String>, _conf: &HashMap<String, String>) -> Self {
        Self { users: Vec::new() }
    }

    pub fn with_sasl(self, users: Vec<(String, String)>) -> Self {
        Self { users }
    }

    pub fn with_remote_data_dir(self, _dir: PathBuf) -> Self {
        self
    }

    pub async fn build(self) -> FlussTestingCluster {
        let of = |name| std::env::var(name).unwrap_or_else(|_| panic!("{name} names no server"));
        FlussTestingCluster { plain: of("WEIR_RUST_BOOTSTRAP"), sasl: of("WEIR_RUST_SASL_BOOTSTRAP"), users: self.users }
    }
}

#[derive(Clone)]
pub struct FlussTestingCluster {
    plain: String,
    sasl: String,
    users: Vec<(String, String)>,
}

impl FlussTestingCluster {
    pub fn stop(&self) {}

    pub fn sasl_users(&self) -> &[(String, String)] {
        &self.users
    }

    pub fn plaintext_bootstrap_servers(&self) -> &str {
        &self.plain
    }

    /// One server is all of them.
    pub fn plaintext_tablet_bootstrap_server(&self, _server_id: u16) -> Option<&str> {
        Some(&self.plain)
    }

    pub async fn get_fluss_connection(&self) -> FlussConnection {
        let config = Config { writer_acks: "all".into(), bootstrap_servers: self.plain.clone(), ..Config::default() };
        FlussConnection::new(config).await.expect("a connection")
    }

    pub async fn get_fluss_connection_with_sasl(&self, user: &str, password: &str) -> FlussConnection {
        self.try_fluss_connection_with_sasl(user, password).await.expect("a connection by SASL")
    }

    pub async fn try_fluss_connection_with_sasl(&self, user: &str, password: &str) -> Result<FlussConnection> {
        FlussConnection::new(Config {
            writer_acks: "all".into(),
            bootstrap_servers: self.sasl.clone(),
            security_protocol: "sasl".into(),
            security_sasl_mechanism: "PLAIN".into(),
            security_sasl_username: user.into(),
            security_sasl_password: password.into(),
            ..Config::default()
        })
        .await
    }
}
